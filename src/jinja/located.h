// Errors that say where in a template they arose.
#pragma once
#include <string>

#include "base/error.h"
#include "jinja/lexer.h"

namespace onceover::jinja {

// An Error whose message begins with file, line and column.
class LocatedError : public Error {
 public:
  using Error::Error;
};

[[noreturn]] inline void throw_at(const std::string& where, const Position& at, const std::string& what) {
  throw LocatedError("{}:{}:{}: {}", where, at.line, at.column, what);
}

}  // namespace onceover::jinja
