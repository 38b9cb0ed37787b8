#include <algorithm>

#include "base/error.h"
#include "jinja/builtins.h"
#include "jinja/operators.h"

namespace onceover::jinja {
namespace {

int64_t integer_of(const Value& value, const char* test) {
  const auto integer = as_integer(value);
  if (!integer) throw Error("test '{}' needs an integer, found {}", test, type_name(value));
  return *integer;
}

bool iterable(const Value& value) {
  return value.text() != nullptr || value.list() != nullptr || value.dict() != nullptr ||
         value.is<Undefined>();
}

bool callable(const Value& value) { return value.is<FunctionPtr>() || value.is<LoopPtr>(); }

// Whether every letter has the case, and there is one.
bool has_case(const Value& value, bool (*wanted)(char32_t), bool (*other)(char32_t)) {
  const Text* text = value.text();
  return text != nullptr && std::any_of(text->begin(), text->end(), wanted) &&
         std::none_of(text->begin(), text->end(), other);
}

// Python's `is`, as far as values have an identity here.
bool same_object(Run& run, const Value& a, const Value& b) {
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
bool odd(const Value& v) { return integer_of(v, "odd") % 2 != 0; }
bool even(const Value& v) { return integer_of(v, "even") % 2 == 0; }
bool in_upper_case(const Value& v) { return has_case(v, is_upper, is_lower); }
bool in_lower_case(const Value& v) { return has_case(v, is_lower, is_upper); }

bool divisible(Run&, const Value& a, const Value& b) {
  const int64_t by = integer_of(b, "divisibleby");
  if (by == 0) throw Error("division by zero");
  return by == -1 || integer_of(a, "divisibleby") % by == 0;
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
                          {"sequence", alone<iterable>},
                          {"callable", alone<callable>},
                          {"odd", alone<odd>},
                          {"even", alone<even>},
                          {"upper", alone<in_upper_case>},
                          {"lower", alone<in_lower_case>},
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
