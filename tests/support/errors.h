// What an Error said.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace onceover {

// The message of the Error that f() throws; fails the test when it throws none.
template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  ADD_FAILURE() << "expected an Error";
  return "";
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace onceover
