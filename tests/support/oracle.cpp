#include "support/oracle.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/random.h"

namespace onceover::test {

using reference::RowsOf;

RowsOf Sequence::feed(std::span<const int> tokens, const reference::Executor::Observer& observe) {
  const int64_t last = state_.tokens + static_cast<int64_t>(tokens.size()) - 1;
  return executor_.run(state_, {tokens.begin(), tokens.end()}, {last}, observe);
}

void Sequence::feed_silently(std::span<const int> tokens, const reference::Executor::Observer& observe) {
  executor_.run(state_, {tokens.begin(), tokens.end()}, {}, observe);
}

RowsOf all_logits(const Plan& plan, const reference::Weights& weights, std::span<const int> tokens) {
  return Sequence(plan, weights, LogitRows::Every).feed(tokens);
}

RowsOf rows_of_value(const Plan& plan, const reference::Weights& weights, std::span<const int> tokens,
                     ValueId value) {
  RowsOf found;
  Sequence(plan, weights, LogitRows::Every).feed(tokens, [&](ValueId v, const RowsOf& rows) {
    if (v == value) found = rows;
  });
  return found;
}

namespace {

template <class Found>
double over_the_largest(const Found& found, const reference::Vector& expected) {
  if (found.size() != expected.size()) return INFINITY;
  double scale = 0, largest = 0;
  for (size_t i = 0; i < expected.size(); i++) {
    scale = std::max(scale, std::fabs(expected[i]));
    largest = std::max(largest, std::fabs(found[i] - expected[i]));
  }
  return largest / scale;
}

}  // namespace

double relative_difference(std::span<const float> found, const reference::Vector& expected) {
  return over_the_largest(found, expected);
}

double relative_difference(const reference::Vector& found, const reference::Vector& expected) {
  return over_the_largest(found, expected);
}

namespace {

std::vector<RowsOf> moved_logits(const Plan& plan, const reference::Weights& weights,
                                 std::span<const int> tokens) {
  std::vector<RowsOf> moved;
  for (int draw = 0; draw < ExactLogits::moves; draw++)
    moved.push_back(all_logits(plan, moved_by_rounding(weights, draw), tokens));
  return moved;
}

}  // namespace

ExactLogits::ExactLogits(const Plan& plan, const reference::Weights& weights, std::span<const int> tokens)
    : ExactLogits(all_logits(plan, weights, tokens), moved_logits(plan, weights, tokens)) {}

ExactLogits::ExactLogits(RowsOf exact, std::span<const RowsOf> moved) : exact_(std::move(exact)) {
  for (const RowsOf& rows : moved) {
    for (const auto& [token, logits] : rows)
      moved_[token] = std::max(moved_[token], relative_difference(logits, exact_.at(token)));
  }
}

double largest_difference(const RowsOf& a, const RowsOf& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (const auto& [row, values] : a) {
    const auto other = b.find(row);
    if (other == b.end() || other->second.size() != values.size())
      return std::numeric_limits<double>::infinity();
    for (size_t j = 0; j < values.size(); j++) {
      const double difference = std::abs(values[j] - other->second[j]);
      if (std::isnan(difference)) return std::numeric_limits<double>::infinity();
      largest = std::max(largest, difference);
    }
  }
  return largest;
}

}  // namespace onceover::test
