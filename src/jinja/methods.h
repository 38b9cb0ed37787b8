// Methods by the type that has them.
#pragma once
#include <span>
#include <string>

#include "jinja/builtins.h"

namespace onceover::jinja {

struct Method {
  const char* name;
  Value (*call)(Run& run, const Value& object, CallArguments& arguments);  // null: known, but not supported
};

std::span<const Method> text_methods();
std::span<const Method> collection_methods(const Value& object);  // of list, dict and loop

}  // namespace onceover::jinja
