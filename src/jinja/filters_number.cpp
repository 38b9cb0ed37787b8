#include <charconv>
#include <cmath>

#include "base/error.h"
#include "jinja/filters.h"

namespace onceover::jinja {
namespace {

// The number that a text holds, white space around it aside.
template <class T>
std::optional<T> number_in(const Text& text) {
  std::string word = to_utf8(strip_end(strip_start(text)));
  if (word.starts_with('+')) word.erase(0, 1);
  T number{};
  const auto read = std::from_chars(word.data(), word.data() + word.size(), number);
  if (word.empty() || read.ec != std::errc() || read.ptr != word.data() + word.size()) return std::nullopt;
  return number;
}

std::optional<int64_t> truncated(double number) {
  constexpr double limit = 9.2e18;
  if (!(std::abs(number) < limit)) return std::nullopt;
  return static_cast<int64_t>(number);
}

Value to_int(Run&, const Value& object, CallArguments& arguments) {
  const Value* other = arguments.take("default");
  if (arguments.integer("base", 10) != 10) throw Error("int: a base other than 10 is not supported");
  arguments.finish();
  std::optional<int64_t> number = as_integer(object);
  if (const double* real = object.as<double>()) number = truncated(*real);
  if (const Text* text = object.text()) {
    number = number_in<int64_t>(*text);
    const auto real = number ? std::nullopt : number_in<double>(*text);
    if (real) number = truncated(*real);
  }
  if (number) return {*number};
  return other == nullptr ? Value{int64_t{0}} : *other;
}

Value to_float(Run&, const Value& object, CallArguments& arguments) {
  const Value* other = arguments.take("default");
  arguments.finish();
  if (is_number(object)) return {as_double(object)};
  const auto number = object.text() == nullptr ? std::nullopt : number_in<double>(*object.text());
  if (number) return {*number};
  return other == nullptr ? Value{0.0} : *other;
}

Value absolute(Run&, const Value& object, CallArguments& arguments) {
  arguments.finish();
  if (!is_number(object)) throw Error("abs needs a number, found {}", type_name(object));
  const auto integer = as_integer(object);
  if (!integer) return {std::abs(as_double(object))};
  if (*integer == INT64_MIN) throw Error("an integer is beyond 64 bits");
  return {std::abs(*integer)};
}

Value round(Run&, const Value& object, CallArguments& arguments) {
  const int64_t precision = arguments.integer("precision", 0);
  const Text* method = arguments.text("method");
  arguments.finish();
  if (!is_number(object)) throw Error("round needs a number, found {}", type_name(object));
  if (precision < -15 || precision > 15) throw Error("round: 'precision' must be -15 to 15");
  const bool common = method == nullptr || same(*method, U"common");
  if (common && as_integer(object) && precision >= 0) return object;
  const double scale = std::pow(10.0, static_cast<double>(precision));
  const double scaled = as_double(object) * scale;
  if (common) return {std::nearbyint(scaled) / scale};
  if (same(*method, U"ceil")) return {std::ceil(scaled) / scale};
  if (same(*method, U"floor")) return {std::floor(scaled) / scale};
  throw Error("round: 'method' must be common, ceil or floor");
}

constexpr Filter filters[] = {{"int", to_int}, {"float", to_float}, {"abs", absolute}, {"round", round}};

}  // namespace

std::span<const Filter> number_filters() { return filters; }

}  // namespace onceover::jinja
