// What a template can call.
#pragma once
#include <memory>
#include <string>
#include <variant>

#include "jinja/builtins.h"
#include "jinja/tree.h"
#include "jinja/value.h"

namespace onceover::jinja {

struct Scope;

// A macro and the scope that it was made in. A scope holds its macros, so they do not hold it.
struct BoundMacro {
  const Macro* macro;
  std::weak_ptr<Scope> scope;
};

struct BoundMethod {
  Value object;
  std::string name;
};

struct Function {
  std::variant<const Builtin*, BoundMacro, BoundMethod> of;
};

}  // namespace onceover::jinja
