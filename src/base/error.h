// The one exception type of the project.
//
// An Error tells a user what was expected, what was found and where (file, tensor, key). Files, flags and
// requests are answered with an Error, never with an abort; `assert` is for our own mistakes.
#pragma once
#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace onceover {

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message) {}

  template <class... Args>
  explicit Error(fmt::format_string<Args...> format, Args&&... args)
      : std::runtime_error(fmt::format(format, std::forward<Args>(args)...)) {}
};

}  // namespace onceover
