#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/printable.h"
#include "jinja/filters.h"
#include "jinja/operators.h"

namespace onceover::jinja {
namespace {

// What stands in a text as Python's int() and float() read it: without white space around it, and without
// underscores between digits.
std::string number_word(const Text& text) {
  std::string word;
  const TextView view = strip_end(strip_start(text));
  for (size_t i = 0; i < view.size(); i++) {
    const char32_t c = plain(view[i]);
    if (c > 0x7F && is_digit(c))
      throw Error("a number with the digit '{}' is not supported", to_utf8(view.substr(i, 1)));
    const bool between = i > 0 && i + 1 < view.size() && is_digit(view[i - 1]) && is_digit(view[i + 1]);
    if (c != '_' || !between) append_utf8_of(word, c);
  }
  const bool has_sign = word.size() > 1 && word[0] == '+' && word[1] != '-';
  return has_sign ? word.substr(1) : word;
}

// Nothing where the text holds no number.
template <class T>
std::optional<T> number_in(const Text& text) {
  const std::string word = number_word(text);
  T number{};
  const auto read = std::from_chars(word.data(), word.data() + word.size(), number);
  if (word.empty() || read.ptr != word.data() + word.size()) return std::nullopt;
  if (read.ec == std::errc::result_out_of_range)
    throw Error("the number {} does not fit", printable(word, 40));
  return read.ec == std::errc() ? std::optional(number) : std::nullopt;
}

int64_t truncated(double number) {
  if (!(std::abs(number) < 0x1p63)) throw Error("the number {} is beyond 64 bits", number);
  return static_cast<int64_t>(number);
}

std::optional<int64_t> integer_in(const Text& text) {
  if (const auto number = number_in<int64_t>(text)) return number;
  const auto real = number_in<double>(text);
  return real && std::isfinite(*real) ? std::optional(truncated(*real)) : std::nullopt;
}

Value to_int(Run& run, const Value& object, CallArguments& arguments) {
  const Value* other = arguments.take("default");
  if (arguments.integer("base", 10) != 10) throw Error("int: a base other than 10 is not supported");
  arguments.finish();
  require_defined(object);
  if (const auto integer = as_integer(object)) return {*integer};
  const double* real = object.as<double>();
  if (real != nullptr && !std::isnan(*real)) return {truncated(*real)};
  if (object.text() != nullptr) run.spend_text(object.text()->size());
  const auto number = object.text() == nullptr ? std::nullopt : integer_in(*object.text());
  if (number) return {*number};
  return other == nullptr ? Value{int64_t{0}} : *other;
}

Value to_float(Run& run, const Value& object, CallArguments& arguments) {
  const Value* other = arguments.take("default");
  arguments.finish();
  require_defined(object);
  if (object.text() != nullptr) run.spend_text(object.text()->size());
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

// By the decimal digits of the exact value, as in Python: what scaling by a power of ten gives is rounded
// twice.
double rounded(double number, int precision) {
  if (!std::isfinite(number)) return number;
  const std::string digits = fmt::format("{:.{}f}", number, precision);
  double result = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), result);
  return result;
}

Value round(Run&, const Value& object, CallArguments& arguments) {
  const int64_t precision = arguments.integer("precision", 0);
  const Text* method = arguments.text("method");
  arguments.finish();
  if (!is_number(object)) throw Error("round needs a number, found {}", type_name(object));
  if (precision < 0 || precision > 15) throw Error("round: 'precision' must be 0 to 15");
  const bool common = method == nullptr || same(*method, U"common");
  if (common && as_integer(object)) return {*as_integer(object)};
  if (common) return {rounded(as_double(object), static_cast<int>(precision))};
  const double scale = std::pow(10.0, static_cast<double>(precision));
  const double scaled = as_double(object) * scale;
  if (!std::isfinite(scaled)) throw Error("round: the number {} does not fit", as_double(object));
  if (same(*method, U"ceil")) return {std::ceil(scaled) / scale};
  if (same(*method, U"floor")) return {std::floor(scaled) / scale};
  throw Error("round: 'method' must be common, ceil or floor");
}

constexpr Filter filters[] = {{"int", to_int}, {"float", to_float}, {"abs", absolute}, {"round", round}};

}  // namespace

std::span<const Filter> number_filters() { return filters; }

}  // namespace onceover::jinja
