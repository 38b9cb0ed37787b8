#include <algorithm>

#include "base/error.h"
#include "jinja/builtins.h"
#include "jinja/format.h"
#include "jinja/operators.h"

namespace onceover::jinja {
namespace {

bool iterable(const Value& value) {
  return value.text() != nullptr || value.list() != nullptr || value.dict() != nullptr ||
         value.is<Undefined>() || value.is<LoopPtr>();
}

bool sequence(const Value& value) { return iterable(value) && !value.is<LoopPtr>(); }

// Jinja's undefined can be called, and fails then.
bool callable(const Value& value) {
  return value.is<FunctionPtr>() || value.is<LoopPtr>() || value.is<Undefined>();
}

// Whether every letter of what it is as a text has the case, and there is one.
template <bool (*wanted)(char32_t), bool (*other)(char32_t)>
bool has_case(Run& run, const Value& value, CallArguments& arguments) {
  arguments.finish();
  const Text text = text_of(run, value);
  return std::any_of(text.begin(), text.end(), wanted) && std::none_of(text.begin(), text.end(), other);
}

// Python's `is`, as far as values have an identity here.
bool same_object(Run& run, const Value& a, const Value& b) {
  if (a.list() != nullptr || a.dict() != nullptr) return a.list() == b.list() && a.dict() == b.dict();
  return a.of.index() == b.of.index() && equal(run, a, b);
}

template <bool (*holds)(const Value&)>
bool alone(Run&, const Value& value, CallArguments& arguments) {
  arguments.finish();
  return holds(value);
}

template <bool (*holds)(Run&, const Value&, const Value&)>
bool with_other(Run& run, const Value& value, CallArguments& arguments) {
  const Value other = arguments.require("other");
  arguments.finish();
  return holds(run, value, other);
}

template <class T>
bool of_type(const Value& value) {
  return value.is<T>();
}

bool defined(const Value& v) { return !v.is<Undefined>(); }
bool mapping(const Value& v) { return v.dict() != nullptr; }
bool integer(const Value& v) { return v.is<int64_t>(); }
bool yes(const Value& v) { return v.is<bool>() && is_true(v); }
bool no(const Value& v) { return v.is<bool>() && !is_true(v); }

// What is left when `a` is divided by `b` is `rest`.
bool leaves(Run& run, const Value& a, const Value& b, int64_t rest) {
  return equal(run, binary(run, "%", a, b), {rest});
}
bool divisible(Run& run, const Value& a, const Value& b) { return leaves(run, a, b, 0); }

template <int64_t rest>
bool halved(Run& run, const Value& value, CallArguments& arguments) {
  arguments.finish();
  return leaves(run, value, {int64_t{2}}, rest);
}

bool unequal(Run& run, const Value& a, const Value& b) { return !equal(run, a, b); }
bool less(Run& run, const Value& a, const Value& b) { return order(run, a, b) < 0; }
bool at_most(Run& run, const Value& a, const Value& b) { return order(run, a, b) <= 0; }
bool greater(Run& run, const Value& a, const Value& b) { return order(run, a, b) > 0; }
bool at_least(Run& run, const Value& a, const Value& b) { return order(run, a, b) >= 0; }

bool is_in(Run& run, const Value& value, const Value& whole) { return contains(run, whole, value); }

constexpr Test tests[] = {{"defined", alone<defined>},
                          {"undefined", alone<of_type<Undefined>>},
                          {"none", alone<of_type<None>>},
                          {"boolean", alone<of_type<bool>>},
                          {"true", alone<yes>},
                          {"false", alone<no>},
                          {"integer", alone<integer>},
                          {"float", alone<of_type<double>>},
                          {"number", alone<is_number>},
                          {"string", alone<of_type<TextPtr>>},
                          {"mapping", alone<mapping>},
                          {"iterable", alone<iterable>},
                          {"sequence", alone<sequence>},
                          {"callable", alone<callable>},
                          {"odd", halved<1>},
                          {"even", halved<0>},
                          {"upper", has_case<is_upper, is_lower>},
                          {"lower", has_case<is_lower, is_upper>},
                          {"divisibleby", with_other<divisible>},
                          {"in", with_other<is_in>},
                          {"sameas", with_other<same_object>},
                          {"eq", with_other<equal>},
                          {"equalto", with_other<equal>},
                          {"ne", with_other<unequal>},
                          {"lt", with_other<less>},
                          {"lessthan", with_other<less>},
                          {"le", with_other<at_most>},
                          {"gt", with_other<greater>},
                          {"greaterthan", with_other<greater>},
                          {"ge", with_other<at_least>},
                          {"==", with_other<equal>},
                          {"!=", with_other<unequal>},
                          {"<", with_other<less>},
                          {"<=", with_other<at_most>},
                          {">", with_other<greater>},
                          {">=", with_other<at_least>}};

}  // namespace

const Test* find_test(const std::string& name) {
  const auto found =
      std::find_if(std::begin(tests), std::end(tests), [&](const Test& one) { return name == one.name; });
  return found == std::end(tests) ? nullptr : found;
}

}  // namespace onceover::jinja
