// Checks of the command line beyond CLI11's own. What they refuse is a usage mistake: exit status 2.
#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>

#include "base/error.h"

namespace onceover {

// The command line is wrong, not what it names: exit status 2.
class UsageMistake : public Error {
 public:
  using Error::Error;
};

// For an option of whole numbers: digits only, so neither a sign nor an overflow passes.
CLI::Validator whole_number(uint64_t low = 0, uint64_t high = UINT64_MAX);

// Runs `check` once the verb's options are read; an Error that it throws becomes a usage mistake.
void check_usage(CLI::App& app, std::function<void()> check);

}  // namespace onceover
