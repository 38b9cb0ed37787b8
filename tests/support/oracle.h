// Running the oracle in tests: one full pass, or a sequence fed in pieces.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "analysis/analysis.h"
#include "plan/plan.h"
#include "reference/reference.h"

namespace onceover::test {

// One sequence under the oracle. Logits are asked for the last token fed, or given for every token.
class Sequence {
 public:
  Sequence(const Plan& plan, const reference::Weights& weights, LogitRows rows = LogitRows::Asked)
      : Sequence(plan, analyse(plan, rows), weights) {}
  Sequence(const Plan& plan, Analysis analysis, const reference::Weights& weights)
      : analysis_(std::move(analysis)), executor_(plan, analysis_, weights) {}
  Sequence(const Sequence&) = delete;
  Sequence& operator=(const Sequence&) = delete;

  reference::RowsOf feed(std::span<const int> tokens, const reference::Executor::Observer& observe = {});
  // As feed, without logits: an early part of a prompt.
  void feed_silently(std::span<const int> tokens, const reference::Executor::Observer& observe = {});

  const reference::State& state() const { return state_; }
  const Analysis& analysis() const { return analysis_; }

 private:
  Analysis analysis_;
  reference::Executor executor_;
  reference::State state_;
};

// Logits of every row, in one pass.
reference::RowsOf all_logits(const Plan& plan, const reference::Weights& weights,
                             std::span<const int> tokens);

// How far a row may be from the oracle's: `base`, and some times what a rounding of the weights changes in
// it.
struct Tolerance {
  double base, times_moved;
};
constexpr Tolerance in_single_precision{1e-5, 5};

// Logits of rows, and for each row the largest change in them, over the largest of them, that several
// moves of all weights by a rounding make: what the row turns on. One move alone may miss it by luck.
class ExactLogits {
 public:
  static constexpr int moves = 3;

  // Of every row.
  ExactLogits(const Plan& plan, const reference::Weights& weights, std::span<const int> tokens);
  // The rows of a pass, and those of passes with moved weights.
  ExactLogits(reference::RowsOf exact, std::span<const reference::RowsOf> moved);

  const reference::Vector& row(int64_t token) const { return exact_.at(token); }
  double moved(int64_t token) const { return moved_.at(token); }
  double allowed(int64_t token, const Tolerance& t) const { return t.base + t.times_moved * moved(token); }
  double single_precision(int64_t token) const { return allowed(token, in_single_precision); }

 private:
  reference::RowsOf exact_;
  std::map<int64_t, double> moved_;
};

// The rows of one value, every logit row demanded.
reference::RowsOf rows_of_value(const Plan& plan, const reference::Weights& weights,
                                std::span<const int> tokens, ValueId value);

// The largest difference between an executor's logits and the oracle's, over the largest of the oracle's;
// infinity when they are not as many.
double relative_difference(std::span<const float> found, const reference::Vector& expected);
// Between two passes of the oracle.
double relative_difference(const reference::Vector& found, const reference::Vector& expected);

// The largest difference between two sets of rows; infinity when they are not the same rows.
double largest_difference(const reference::RowsOf& a, const reference::RowsOf& b);

}  // namespace onceover::test
