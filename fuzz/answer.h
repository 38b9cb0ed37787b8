// What a reader of untrusted bytes may do.
#pragma once
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "base/printable.h"

namespace onceover {

// Runs `read`. An Error is an answer too, if its message may be shown on a terminal.
template <class F>
void expect_answer(F read) {
  try {
    read();
  } catch (const Error& error) {
    const std::string message = error.what();
    if (printable(message, message.size()) != message) std::abort();
  }
}

}  // namespace onceover
