// The parameter `attribute` of filters: "a.b.0" or a number.
#pragma once
#include <vector>

#include "jinja/call_arguments.h"
#include "jinja/run.h"
#include "jinja/value.h"

namespace onceover::jinja {

class AttributePath {
 public:
  AttributePath() = default;
  // Error unless `path` is a text or an integer.
  explicit AttributePath(const Value& path);
  // Empty when the argument is absent or None.
  static AttributePath take(CallArguments& arguments);
  // Of "a,b": one for each.
  static std::vector<AttributePath> take_several(CallArguments& arguments);

  // The value itself where the path is empty. What is undefined on the way is `when_absent`, if given.
  Value of(Run& run, Value value, const Value* when_absent = nullptr) const;

 private:
  std::vector<Value> steps_;
};

}  // namespace onceover::jinja
