#include "base/error.h"
#include "base/printable.h"
#include "jinja/attribute_path.h"
#include "jinja/filters.h"
#include "jinja/operators.h"

namespace onceover::jinja {
namespace {

// Nothing where the object is false, whatever its type: so Jinja's map, select and their like have it.
std::vector<Value> items_if_any(Run& run, const Value& object) {
  return is_true(object) ? items_of(run, object) : std::vector<Value>();
}

Value map(Run& run, const Value& object, CallArguments& arguments) {
  std::vector<Value> rest = arguments.take_positional();
  auto named = arguments.take_named();
  std::vector<Value> out;
  if (rest.empty() && !named.empty()) {
    CallArguments only("map", {}, named);
    const AttributePath path(only.require("attribute"));
    const Value* when_absent = only.take("default");
    if (when_absent != nullptr && when_absent->is<None>()) when_absent = nullptr;
    only.finish();
    for (const Value& one : items_if_any(run, object)) out.push_back(path.of(run, one, when_absent));
    return list_value(std::move(out));
  }
  if (rest.empty() || rest[0].text() == nullptr) throw Error("map needs a filter's name or an attribute");
  const std::string name = to_utf8(*rest[0].text());
  const Filter* filter = find_filter(name);
  if (filter == nullptr) throw Error("filter '{}' is not supported", printable(name));
  rest.erase(rest.begin());
  for (const Value& one : items_if_any(run, object)) {
    CallArguments given(name, rest, named);
    run.spend(1 + rest.size() + named.size());
    out.push_back(filter->apply(run, one, given));
  }
  return list_value(std::move(out));
}

// Keeps the items whose test, or truth where there is none, is `wanted`. With `by_attribute` the first
// argument names what is looked at.
Value chosen(Run& run, const Value& object, CallArguments& arguments, bool by_attribute, bool wanted) {
  std::vector<Value> rest = arguments.take_positional();
  const auto named = arguments.take_named();
  AttributePath path;
  if (by_attribute) {
    if (rest.empty()) throw Error("{} needs an attribute", arguments.callee());
    path = AttributePath(rest[0]);
    rest.erase(rest.begin());
  }
  const Test* test = nullptr;
  std::string name;
  if (!rest.empty()) {
    name = rest[0].text() == nullptr ? "" : to_utf8(*rest[0].text());
    test = find_test(name);
    if (test == nullptr) throw Error("test '{}' is not supported", printable(name));
    rest.erase(rest.begin());
  }
  std::vector<Value> out;
  for (const Value& one : items_if_any(run, object)) {
    CallArguments given(name, rest, named);
    run.spend(1 + rest.size() + named.size());
    const Value looked_at = path.of(run, one);
    if ((test == nullptr ? is_true(looked_at) : test->holds(run, looked_at, given)) == wanted)
      out.push_back(one);
  }
  return list_value(std::move(out));
}

Value select(Run& run, const Value& object, CallArguments& arguments) {
  return chosen(run, object, arguments, false, true);
}
Value reject(Run& run, const Value& object, CallArguments& arguments) {
  return chosen(run, object, arguments, false, false);
}
Value selectattr(Run& run, const Value& object, CallArguments& arguments) {
  return chosen(run, object, arguments, true, true);
}
Value rejectattr(Run& run, const Value& object, CallArguments& arguments) {
  return chosen(run, object, arguments, true, false);
}

Value attr(Run& run, const Value& object, CallArguments& arguments) {
  const Text* name = arguments.text("name");
  arguments.finish();
  if (name == nullptr) throw Error("attr needs the argument 'name'");
  return object.dict() != nullptr && !has_method(object, to_utf8(*name))
             ? undefined(fmt::format("'{}'", to_utf8(*name)))
             : attribute(run, object, to_utf8(*name));
}

Value when_undefined(Run&, const Value& object, CallArguments& arguments) {
  const Value* other = arguments.take("default_value");
  const bool boolean = arguments.flag("boolean", false);
  arguments.finish();
  if (!object.is<Undefined>() && !(boolean && !is_true(object))) return object;
  return other == nullptr ? text_value("") : *other;
}

constexpr Filter filters[] = {{"map", map},
                              {"select", select},
                              {"reject", reject},
                              {"selectattr", selectattr},
                              {"rejectattr", rejectattr},
                              {"attr", attr},
                              {"default", when_undefined},
                              {"d", when_undefined}};

}  // namespace

std::span<const Filter> selecting_filters() { return filters; }

}  // namespace onceover::jinja
