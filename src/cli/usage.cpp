#include "cli/usage.h"

#include <charconv>

#include "base/error.h"
#include "base/printable.h"

namespace onceover {

CLI::Validator whole_number(uint64_t low, uint64_t high) {
  const auto check = [low, high](const std::string& text) -> std::string {
    uint64_t number = 0;
    const char* end = text.data() + text.size();
    const auto [stop, problem] = std::from_chars(text.data(), end, number);
    if (problem == std::errc() && stop == end && number >= low && number <= high) return "";
    return fmt::format("expected a whole number from {} to {}, found '{}'", low, high, printable(text));
  };
  return CLI::Validator(check, "", "whole number");
}

void check_usage(CLI::App& app, std::function<void()> check) {
  app.parse_complete_callback([check = std::move(check)] {
    try {
      check();
    } catch (const Error& e) {
      throw CLI::ValidationError(e.what());
    }
  });
}

}  // namespace onceover
