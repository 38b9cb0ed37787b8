#include "report/axis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

#include "support/fresh_seed.h"

namespace onceover {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Axis linear(std::optional<double> min = {}, std::optional<double> max = {}) {
  return {"a", Scale::Linear, min, max};
}
Axis logarithmic(std::optional<double> min = {}, std::optional<double> max = {}) {
  return {"a", Scale::Log, min, max};
}

std::vector<std::string> labels(const AxisMap& map, int count) {
  std::vector<std::string> found;
  for (const auto& tick : map.ticks(count)) {
    if (!tick.label.empty()) found.push_back(tick.label);
  }
  return found;
}

using Labels = std::vector<std::string>;

TEST(Axis, TicksStandAtRoundValues) {
  EXPECT_EQ(labels(AxisMap(linear(0, 10), {}), 5), (Labels{"0", "2", "4", "6", "8", "10"}));
  EXPECT_EQ(labels(AxisMap(linear(-1, 1), {}), 4), (Labels{"−1.0", "−0.5", "0", "0.5", "1.0"}));
  EXPECT_EQ(labels(AxisMap(linear(2.93, 3.02), {}), 4), (Labels{"2.95", "3.00"}));
  EXPECT_EQ(labels(AxisMap(linear(0, 2000), {}), 4), (Labels{"0", "500", "1000", "1500", "2000"}));
  EXPECT_EQ(labels(AxisMap(linear(0, 2e9), {}), 4), (Labels{"0", "0.5B", "1.0B", "1.5B", "2.0B"}));
  EXPECT_EQ(labels(AxisMap(linear(0, 4e-4), {}), 4), (Labels{"0", "10⁻⁴", "2×10⁻⁴", "3×10⁻⁴", "4×10⁻⁴"}));
  EXPECT_EQ(labels(AxisMap(linear(0, 2e18), {}), 4),
            (Labels{"0", "5×10¹⁷", "1.0×10¹⁸", "1.5×10¹⁸", "2.0×10¹⁸"}));
}

TEST(Axis, LogTicksAreDecadesAndFewerWhenThereAreMany) {
  EXPECT_EQ(labels(AxisMap(logarithmic(1, 1000), {}), 5), (Labels{"1", "10", "100", "1000"}));
  EXPECT_EQ(labels(AxisMap(logarithmic(1e3, 1e6), {}), 5), (Labels{"1000", "10K", "100K", "1M"}));
  EXPECT_EQ(labels(AxisMap(logarithmic(0.01, 1), {}), 5), (Labels{"0.01", "0.1", "1"}));
  EXPECT_EQ(labels(AxisMap(logarithmic(1e17, 1e19), {}), 5), (Labels{"10¹⁷", "10¹⁸", "10¹⁹"}));
  EXPECT_EQ(labels(AxisMap(logarithmic(1e-12, 1e12), {}), 5),
            (Labels{"10⁻¹²", "10⁻⁸", "10⁻⁴", "1", "10⁴", "10⁸", "10¹²"}));
  EXPECT_EQ(labels(AxisMap(logarithmic(1, 10), {}), 5), (Labels{"1", "2", "5", "10"}));
  EXPECT_EQ(labels(AxisMap(logarithmic(2, 3), {}), 5), (Labels{"2.0", "2.2", "2.4", "2.6", "2.8", "3.0"}));
}

TEST(Axis, LogTicksHaveMinorOnesBetween) {
  int minor = 0;
  for (const auto& tick : AxisMap(logarithmic(1, 100), {}).ticks(5)) minor += tick.label.empty();
  EXPECT_EQ(minor, 16);
}

TEST(Axis, PositionsAreProportional) {
  const AxisMap straight(linear(10, 20), {}), bent(logarithmic(1, 100), {});
  EXPECT_DOUBLE_EQ(straight.at(10), 0);
  EXPECT_DOUBLE_EQ(straight.at(15), 0.5);
  EXPECT_DOUBLE_EQ(bent.at(10), 0.5);
  EXPECT_DOUBLE_EQ(bent.at(100), 1);
  EXPECT_EQ(straight.at(1e290), 10);
}

TEST(Axis, WhatCannotBeShownIsToldApart) {
  const AxisMap straight(linear(), {}), bent(logarithmic(), {});
  for (const double gap : {std::nan(""), infinity, -infinity, 1e301}) {
    EXPECT_FALSE(straight.shows(gap));
    EXPECT_FALSE(bent.shows(gap));
  }
  EXPECT_TRUE(straight.shows(0) && straight.shows(-1));
  EXPECT_FALSE(bent.shows(0) || bent.shows(-1));
}

TEST(Axis, AnyDataGivesARangeThatShowsItAndFewTicks) {
  std::mt19937_64 random(fresh_seed());
  const std::vector<double> odd{0,        -0.0,         1,         -1,  5e-324,     1e300, -1e300, 1e301,
                                infinity, std::nan(""), 1 + 1e-15, 1e9, 1e9 + 1e-6, 1e-300};
  for (int round = 0; round < 3000; round++) {
    std::vector<double> values;
    for (uint64_t i = random() % 4; i > 0; i--) {
      const double wild =
          std::ldexp(static_cast<double>(random() % 1000), static_cast<int>(random() % 1900) - 1000);
      values.push_back(random() % 2 == 0 ? odd[random() % odd.size()] : wild);
    }
    for (const auto& axis : {linear(), logarithmic()}) {
      const AxisMap map(axis, values);
      EXPECT_LT(map.low(), map.high());
      for (const double value : values) {
        if (map.shows(value)) {
          EXPECT_TRUE(map.at(value) >= 0 && map.at(value) <= 1) << value;
        }
      }
      EXPECT_LE(labels(map, 5).size(), 14u);
      for (const auto& tick : map.ticks(5)) EXPECT_TRUE(std::isfinite(map.at(tick.value)));
    }
  }
}

TEST(Axis, DataAboveZeroKeepZeroAsTheirFloor) {
  EXPECT_EQ(AxisMap(linear(), {0, 100}).low(), 0);
  EXPECT_EQ(AxisMap(linear(), {1, 100}).low(), 0);
  EXPECT_LT(AxisMap(linear(), {-1, 100}).low(), -1);
  EXPECT_GT(AxisMap(linear(), {50, 100}).low(), 0);
}

TEST(Axis, OneLimitLeavesTheOtherToTheData) {
  EXPECT_GE(AxisMap(linear(0, {}), {17.3, 17.3}).high(), 17.3);
  EXPECT_EQ(AxisMap(linear(0, {}), {17.3, 17.3}).low(), 0);
  EXPECT_GT(AxisMap(linear(20, {}), {1, 2}).high(), 20) << "all data below the limit";
  EXPECT_LT(AxisMap(linear({}, -5), {1, 2}).low(), -5) << "all data above the limit";
}

TEST(Axis, RefusesAnEmptyRange) {
  EXPECT_THROW(AxisMap(linear(3, 3), {}), std::logic_error);
  EXPECT_THROW(AxisMap(linear(4, 3), {}), std::logic_error);
  EXPECT_THROW(AxisMap(logarithmic(0, 3), {}), std::logic_error);
  EXPECT_THROW(AxisMap(linear(0, infinity), {}), std::logic_error);
}

}  // namespace
}  // namespace onceover
