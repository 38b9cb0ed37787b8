#include "report/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <utility>

namespace onceover {
namespace {

constexpr double largest_shown = 1e300;

// The round step (1, 2 or 5 times a power of ten) nearest above span / count.
double round_step(double span, int count) {
  const double raw = span / count;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

int exponent_of(double value) { return static_cast<int>(std::floor(std::log10(std::abs(value)) + 1e-9)); }

std::string superscript(int number) {
  static const char* const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = number < 0 ? "⁻" : "";
  for (const char digit : std::to_string(std::abs(number))) text += digits[digit - '0'];
  return text;
}

std::string with_minus(const std::string& number) {
  if (number.empty() || number[0] != '-') return number;
  return number.find_first_of("123456789") == std::string::npos ? number.substr(1) : "−" + number.substr(1);
}

// "2×10⁻⁴". `step` says how many digits of the mantissa matter.
std::string scientific(double value, double step) {
  if (value == 0) return "0";
  const int exponent = exponent_of(value), decimals = std::clamp(exponent - exponent_of(step), 0, 12);
  const std::string mantissa = with_minus(fmt::format("{:.{}f}", value / std::pow(10, exponent), decimals));
  if (exponent == 0) return mantissa;
  return (mantissa == "1" ? "" : mantissa + "×") + "10" + superscript(exponent);
}

// With K, M, B, T for thousands and up: `magnitude` chooses the letter.
std::string plain(double value, double step, double magnitude) {
  if (value == 0) return "0";
  double unit = 1;
  const char* letter = "";
  for (const auto& [size, name] : {std::pair{1e3, "K"}, {1e6, "M"}, {1e9, "B"}, {1e12, "T"}}) {
    if (magnitude >= size * (1 - 1e-9)) unit = size, letter = name;
  }
  const int decimals = std::clamp(-exponent_of(step / unit), 0, 12);
  return with_minus(fmt::format("{:.{}f}", value / unit, decimals)) + letter;
}

bool needs_exponent(double magnitude) { return magnitude != 0 && (magnitude >= 1e15 || magnitude < 1e-3); }

std::vector<double> multiples(double from, double to, double step) {
  std::vector<double> values;
  const double slack = 1e-9;
  const auto first = static_cast<int64_t>(std::ceil(from / step - slack));
  const auto last = static_cast<int64_t>(std::floor(to / step + slack));
  for (int64_t i = first; i <= last; i++) values.push_back(static_cast<double>(i) * step);
  return values;
}

std::vector<Tick> labelled(const std::vector<double>& values, double step) {
  double magnitude = 0;
  for (const double value : values) magnitude = std::max(magnitude, std::abs(value));
  const double letter_from = magnitude >= 1e4 * (1 - 1e-9) ? magnitude : 1;  // 2000 reads better than 2K
  std::vector<Tick> ticks;
  for (const double value : values) {
    ticks.push_back(
        {value, needs_exponent(magnitude) ? scientific(value, step) : plain(value, step, letter_from)});
  }
  return ticks;
}

struct Range {
  double from, to;
};

// Room around the data, so that no point lies on the frame; but data that stays above 0 keeps 0 as its floor.
// A span below `least` counts as none.
Range widen(double from, double to, double least, bool keep_sign) {
  const double largest = std::max(std::abs(from), std::abs(to));
  if (to - from < std::max(1e-9 * largest, least)) {
    const double room = largest > 1e-280 ? 0.1 * largest : 1;
    return {from - room, to + room};
  }
  const double room = 0.03 * (to - from);
  return {keep_sign && from >= 0 ? std::max(0.0, from - room) : from - room, to + room};
}

}  // namespace

AxisMap::AxisMap(const Axis& axis, const std::vector<double>& values) : scale_(axis.scale) {
  bool any = false;
  double low = 0, high = 1;
  for (const double value : values) {
    if (!shows(value)) continue;
    const double position = transform(value);
    low = any ? std::min(low, position) : position;
    high = any ? std::max(high, position) : position;
    any = true;
  }
  const double least = scale_ == Scale::Linear ? 1e-290 : 1e-9;
  const Range range = any ? widen(low, high, least, scale_ == Scale::Linear) : Range{0, 1};
  for (const auto& limit : {axis.min, axis.max}) {
    if (limit && !shows(*limit))
      throw std::logic_error(fmt::format("axis '{}' cannot show its limit {}", axis.label, *limit));
  }
  from_ = axis.min ? transform(*axis.min) : range.from;
  to_ = axis.max ? transform(*axis.max) : range.to;
  if (axis.min && !axis.max) to_ = std::max(to_, widen(from_, from_, least, false).to);
  if (axis.max && !axis.min) from_ = std::min(from_, widen(to_, to_, least, false).from);
  if (!(from_ < to_)) throw std::logic_error(fmt::format("axis '{}' has an empty range", axis.label));
}

bool AxisMap::shows(double value) const {
  return std::abs(value) <= largest_shown && (scale_ == Scale::Linear || value > 0);
}

double AxisMap::at(double value) const {
  return std::clamp((transform(value) - from_) / (to_ - from_), -10.0, 10.0);
}

double AxisMap::low() const { return inverse(from_); }

double AxisMap::high() const { return inverse(to_); }

std::vector<Tick> AxisMap::ticks(int count) const {
  return scale_ == Scale::Linear ? linear_ticks(count) : log_ticks(count);
}

double AxisMap::transform(double value) const { return scale_ == Scale::Log ? std::log10(value) : value; }

double AxisMap::inverse(double position) const {
  return scale_ == Scale::Log ? std::pow(10, position) : position;
}

std::vector<Tick> AxisMap::linear_ticks(int count) const {
  const double step = round_step(to_ - from_, count);
  return labelled(multiples(from_, to_, step), step);
}

std::vector<Tick> AxisMap::log_ticks(int count) const {
  const int first = static_cast<int>(std::floor(from_)), last = static_cast<int>(std::ceil(to_));
  const int stride = std::max(1, static_cast<int>(std::ceil((to_ - from_) / (count + 1))));
  const bool decades_suffice = to_ - from_ >= 2;
  const bool exponents = needs_exponent(low()) || needs_exponent(high());
  std::vector<Tick> ticks;
  int labels = 0;
  for (int exponent = first; exponent <= last; exponent++) {
    for (int factor = 1; factor <= 9; factor++) {
      const double value = factor * std::pow(10, exponent), position = transform(value);
      if (position < from_ - 1e-9 || position > to_ + 1e-9) continue;
      const bool decade = factor == 1 && exponent % stride == 0;
      const bool label = decade || (!decades_suffice && (factor == 2 || factor == 5));
      if (!label && (factor > 1 && stride > 1)) continue;
      const double unit = std::pow(10, exponent);
      ticks.push_back({value, !label      ? ""
                              : exponents ? scientific(value, unit)
                                          : plain(value, unit, value >= 1e4 * (1 - 1e-9) ? value : 1)});
      labels += label;
    }
  }
  if (labels >= 3 || decades_suffice) return ticks;
  const double step = round_step(high() - low(), count);
  return labelled(multiples(low(), high(), step), step);
}

}  // namespace onceover
