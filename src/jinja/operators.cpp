#include "jinja/operators.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/printable.h"
#include "jinja/format.h"
#include "jinja/function.h"
#include "jinja/loop.h"

namespace onceover::jinja {
namespace {

[[noreturn]] void refuse_types(const std::string& op, const Value& left, const Value& right) {
  require_defined(left);
  require_defined(right);
  throw Error("{} cannot be used between the types {} and {}", op, type_name(left), type_name(right));
}

using Checked = bool (*)(int64_t, int64_t, int64_t*);

bool overflowing_add(int64_t a, int64_t b, int64_t* result) { return __builtin_add_overflow(a, b, result); }
bool overflowing_subtract(int64_t a, int64_t b, int64_t* result) {
  return __builtin_sub_overflow(a, b, result);
}
bool overflowing_multiply(int64_t a, int64_t b, int64_t* result) {
  return __builtin_mul_overflow(a, b, result);
}

int64_t whole(Checked overflows, int64_t a, int64_t b) {
  int64_t result = 0;
  if (overflows(a, b, &result)) throw Error("an integer is beyond 64 bits");
  return result;
}

// Rounded down, as in Python.
int64_t floor_divide(int64_t a, int64_t b) {
  if (b == -1) return whole(overflowing_subtract, 0, a);
  const int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

int64_t power(int64_t base, int64_t exponent) {
  if (base == 0 || base == 1) return exponent == 0 ? 1 : base;
  if (base == -1) return exponent % 2 == 0 ? 1 : -1;
  int64_t result = 1;
  for (int64_t i = 0; i < exponent; i++) result = whole(overflowing_multiply, result, base);
  return result;
}

double power(double base, double exponent) {
  if (base == 0 && exponent < 0) throw Error("division by zero");
  const double result = std::pow(base, exponent);
  if (std::isnan(result) && !std::isnan(base) && !std::isnan(exponent))
    throw Error("{} ** {} is a complex number", base, exponent);
  if (std::isinf(result) && std::isfinite(base) && std::isfinite(exponent))
    throw Error("{} ** {} is beyond a float", base, exponent);
  return result;
}

// The rest has the sign of `b`, and the quotient is whole: CPython's float_divmod.
double remainder(double a, double b) {
  const double rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(0.0, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

double floor_divide(double a, double b) {
  const double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0 && (rest < 0) != (b < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0, a / b);
  const double down = std::floor(quotient);
  return quotient - down > 0.5 ? down + 1 : down;
}

Value of_integers(const std::string& op, int64_t a, int64_t b) {
  if (op == "+") return {whole(overflowing_add, a, b)};
  if (op == "-") return {whole(overflowing_subtract, a, b)};
  if (op == "*") return {whole(overflowing_multiply, a, b)};
  if (op == "**" && b >= 0) return {power(a, b)};
  if (op == "**") return {power(static_cast<double>(a), static_cast<double>(b))};
  if (b == 0) throw Error("division by zero");
  if (op == "//") return {floor_divide(a, b)};
  if (op == "%") return {b == -1 ? 0 : a - floor_divide(a, b) * b};
  return {static_cast<double>(static_cast<long double>(a) / static_cast<long double>(b))};
}

Value of_doubles(const std::string& op, double a, double b) {
  if (op == "+") return {a + b};
  if (op == "-") return {a - b};
  if (op == "*") return {a * b};
  if (op == "**") return {power(a, b)};
  if (b == 0) throw Error("division by zero");
  if (op == "/") return {a / b};
  if (op == "//") return {floor_divide(a, b)};
  return {remainder(a, b)};
}

size_t times(const Value& count, size_t length) {
  const int64_t n = std::max<int64_t>(as_integer(count).value(), 0);
  if (length != 0 && n > static_cast<int64_t>(Run::max_characters / length))
    throw Error("repeating something of {} elements {} times is too much", length, n);
  return static_cast<size_t>(n);
}

Value repeated(Run& run, const Value& value, const Value& count) {
  if (const Text* text = value.text()) {
    const size_t n = text->empty() ? 0 : times(count, text->size());
    run.spend_text(text->size() * n);
    Text out;
    for (size_t i = 0; i < n; i++) out += *text;
    return text_value(std::move(out));
  }
  const List& list = *value.list();
  const size_t n = list.items.empty() ? 0 : times(count, list.items.size());
  run.spend(list.items.size() * n);
  std::vector<Value> items;
  for (size_t i = 0; i < n; i++) items.insert(items.end(), list.items.begin(), list.items.end());
  return list_value(std::move(items), list.is_tuple);
}

Value joined(Run& run, TextView left, TextView right) {
  run.spend_text(left.size() + right.size());
  return text_value(Text(left).append(right));
}

bool is_sequence(const Value& value) { return value.text() != nullptr || value.list() != nullptr; }

Value add(Run& run, const Value& left, const Value& right) {
  if (left.text() != nullptr && right.text() != nullptr) return joined(run, *left.text(), *right.text());
  const List *a = left.list(), *b = right.list();
  if (a == nullptr || b == nullptr || a->is_tuple != b->is_tuple) refuse_types("+", left, right);
  run.spend(a->items.size() + b->items.size());
  std::vector<Value> items = a->items;
  items.insert(items.end(), b->items.begin(), b->items.end());
  return list_value(std::move(items), a->is_tuple);
}

// A place in a sequence of `length`, counted from the end where negative; none outside.
std::optional<size_t> place_of(int64_t index, size_t length) {
  if (index < 0) index += static_cast<int64_t>(length);
  if (index < 0 || index >= static_cast<int64_t>(length)) return std::nullopt;
  return static_cast<size_t>(index);
}

Value no_item(const Value& object, const std::string& name) {
  return undefined(fmt::format("'{}' of a {}", printable(name), type_name(object)));
}

// Indices that a slice takes.
std::vector<size_t> slice_places(size_t length, const Value& start, const Value& stop, const Value& step) {
  const auto number = [](const Value& value, int64_t when_none) {
    if (value.is<None>()) return when_none;
    const auto integer = as_integer(value);
    if (!integer) throw Error("a slice needs integers, found {}", type_name(value));
    return *integer;
  };
  const auto size = static_cast<int64_t>(length);
  const int64_t by = number(step, 1);
  if (by == 0) throw Error("a slice's step must not be zero");
  const int64_t low = by > 0 ? 0 : -1, high = by > 0 ? size : size - 1;
  const auto clamp = [&](int64_t n) { return std::clamp(n < 0 ? n + size : n, low, high); };
  const int64_t from = start.is<None>() ? (by > 0 ? low : high) : clamp(number(start, 0));
  const int64_t to = stop.is<None>() ? (by > 0 ? high : low) : clamp(number(stop, 0));
  std::vector<size_t> places;
  for (int64_t i = from; by > 0 ? i < to : i > to; i += std::clamp(by, -size - 1, size + 1))
    places.push_back(static_cast<size_t>(i));
  return places;
}

}  // namespace

Value binary(Run& run, const std::string& op, const Value& left, const Value& right) {
  if (op == "~") return joined(run, text_of(run, left), text_of(run, right));
  const auto a = as_integer(left), b = as_integer(right);
  if (a && b) return of_integers(op, *a, *b);
  if (is_number(left) && is_number(right)) return of_doubles(op, as_double(left), as_double(right));
  if (op == "*" && is_sequence(left) && b) return repeated(run, left, right);
  if (op == "*" && a && is_sequence(right)) return repeated(run, right, left);
  if (op == "+") return add(run, left, right);
  refuse_types(op, left, right);
}

void require_defined(const Value& value) {
  if (const Undefined* missing = value.as<Undefined>()) throw Error("{} is undefined", *missing->what);
}

Value negative(const Value& value) {
  if (const auto integer = as_integer(value)) return {whole(overflowing_subtract, 0, *integer)};
  if (const double* number = value.as<double>()) return {-*number};
  refuse_types("-", value, value);
}

bool contains(Run& run, const Value& whole, const Value& part) {
  if (const Text* text = whole.text()) {
    if (part.text() == nullptr) refuse_types("in", part, whole);
    run.spend_text(text->size());
    return find(*text, *part.text()) != nowhere;
  }
  if (const Dict* dict = whole.dict()) return dict->find(run, part) != nullptr;
  const std::vector<Value> items = items_of(run, whole);
  return std::any_of(items.begin(), items.end(), [&](const Value& one) { return equal(run, one, part); });
}

std::vector<Value> items_of(Run& run, const Value& value) {
  std::vector<Value> items;
  if (const List* list = value.list()) {
    run.spend(list->items.size());
    items = list->items;
  } else if (const Dict* dict = value.dict()) {
    run.spend(dict->entries().size());
    for (const auto& [key, item] : dict->entries()) items.push_back(key);
  } else if (const Text* text = value.text()) {
    run.spend(4 * text->size());
    for (const char32_t c : *text) items.push_back(text_value(Text(1, c)));
  } else if (!value.is<Undefined>()) {
    throw Error("a value of type {} cannot be iterated over", type_name(value));
  }
  return items;
}

int64_t length_of(const Value& value) {
  if (const Text* text = value.text()) return static_cast<int64_t>(text->size());
  if (const List* list = value.list()) return static_cast<int64_t>(list->items.size());
  if (const Dict* dict = value.dict()) return static_cast<int64_t>(dict->entries().size());
  if (const LoopPtr* loop = value.as<LoopPtr>()) return static_cast<int64_t>((*loop)->items.size());
  if (value.is<Undefined>()) return 0;
  throw Error("a value of type {} has no length", type_name(value));
}

Value attribute(Run& run, const Value& object, const std::string& name) {
  if (const Undefined* missing = object.as<Undefined>())
    throw Error("{} is undefined; it has no '{}'", *missing->what, printable(name));
  if (has_method(object, name)) {
    run.spend(1);
    return {std::make_shared<const Function>(Function{BoundMethod{object, name}})};
  }
  if (const LoopPtr* loop = object.as<LoopPtr>()) {
    const auto member = loop_member(**loop, name);
    return member ? *member : no_item(object, name);
  }
  const Dict* dict = object.is<Namespace*>() ? &(*object.as<Namespace*>())->members : object.dict();
  const Value* found = dict == nullptr ? nullptr : dict->find(name);
  return found == nullptr ? no_item(object, name) : *found;
}

Value item(Run& run, const Value& object, const Value& index) {
  if (const Dict* dict = object.dict();
      dict != nullptr && index.list() == nullptr && index.dict() == nullptr) {
    if (const Value* found = dict->find(run, index)) return *found;
  }
  if (const Text* name = index.text()) return attribute(run, object, to_utf8(*name));
  if (const Undefined* missing = object.as<Undefined>())
    throw Error("{} is undefined; it has no items", *missing->what);
  const auto integer = as_integer(index);
  if (integer && object.list() != nullptr) {
    const auto place = place_of(*integer, object.list()->items.size());
    if (place) return object.list()->items[*place];
  } else if (integer && object.text() != nullptr) {
    const auto place = place_of(*integer, object.text()->size());
    if (place) return text_value(Text(1, (*object.text())[*place]));
  }
  return no_item(object, integer ? fmt::format("{}", *integer) : type_name(index));
}

Value slice(Run& run, const Value& object, const Value& start, const Value& stop, const Value& step) {
  if (!is_sequence(object)) {
    if (object.is<Undefined>())
      throw Error("{} is undefined; it has no items", *object.as<Undefined>()->what);
    throw Error("a value of type {} cannot be sliced", type_name(object));
  }
  const auto length = static_cast<size_t>(length_of(object));
  run.spend(length / 8);
  const std::vector<size_t> places = slice_places(length, start, stop, step);
  run.spend(places.size() / 8);
  if (const Text* text = object.text()) {
    Text out;
    for (const size_t place : places) out += (*text)[place];
    return text_value(std::move(out));
  }
  std::vector<Value> items;
  for (const size_t place : places) items.push_back(object.list()->items[place]);
  return list_value(std::move(items), object.list()->is_tuple);
}

}  // namespace onceover::jinja
