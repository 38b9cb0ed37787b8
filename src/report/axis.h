// Axes of a plot: which range they show, where a value lies on them, and where their ticks stand.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace onceover {

enum class Scale { Linear, Log };

struct Axis {
  std::string label;
  Scale scale = Scale::Linear;
  std::optional<double> min, max;  // unset: from the data, with a little room around it
};

struct Tick {
  double value;
  std::string label;  // empty: a minor tick
};

// Maps values to 0..1 along an axis.
class AxisMap {
 public:
  // The range that shows all of `values` (those the axis cannot show are ignored). std::logic_error when the
  // axis itself asks for an empty range, or a log axis for a limit of 0 or less.
  AxisMap(const Axis& axis, const std::vector<double>& values);

  // Neither NaN nor infinite nor beyond ±1e300 (where differences overflow); above 0 on a log axis. All else
  // is a gap.
  bool shows(double value) const;
  // 0 at the low end, 1 at the high end; beyond them outside the range, limited to ±10. Needs shows(value).
  double at(double value) const;
  double low() const;
  double high() const;

  // About `count` labelled ticks at round values: 1, 2 or 5 times a power of ten; whole decades on a log axis
  // that spans two or more, with minor ticks between them.
  std::vector<Tick> ticks(int count) const;

 private:
  double transform(double value) const;
  double inverse(double position) const;
  std::vector<Tick> linear_ticks(int count) const;
  std::vector<Tick> log_ticks(int count) const;

  Scale scale_;
  double from_, to_;  // transformed: log10 of the value on a log axis
};

}  // namespace onceover
