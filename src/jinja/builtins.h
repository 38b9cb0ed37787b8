// What Jinja brings, and Hugging Face adds: filters, tests, functions, and the methods of Python's types.
//
// Names and meanings are theirs; what changes a value in place (list.append, …) is refused, as in their
// sandbox. Lists stand where Python has generators, ranges and views.
#pragma once
#include <string>

#include "jinja/call_arguments.h"
#include "jinja/run.h"
#include "jinja/value.h"

namespace onceover::jinja {

struct Filter {
  const char* name;
  Value (*apply)(Run& run, const Value& object, CallArguments& arguments);
};

struct Test {
  const char* name;
  bool (*holds)(Run& run, const Value& object, CallArguments& arguments);
};

// Null for an unknown name.
const Filter* find_filter(const std::string& name);
const Test* find_test(const std::string& name);

struct Builtin {
  const char* name;
  Value (*call)(Run& run, CallArguments& arguments);
};

// range, namespace, dict, raise_exception, strftime_now; null for another name.
const Builtin* find_global(const std::string& name);

// Whether Python's type has a method of that name.
bool has_method(const Value& object, const std::string& name);
// Error for one that is not supported, and one that would change the object.
Value call_method(Run& run, const Value& object, const std::string& name, CallArguments& arguments);

}  // namespace onceover::jinja
