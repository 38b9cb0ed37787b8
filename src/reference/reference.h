// The oracle: every op as its equation (equations.h), in double precision, one row at a time. No threads, no
// tricks.
//
// It is the meaning of a plan; every other executor is tested against it. Rows are computed where the demand
// analysis says so, and state outlives a call exactly as Analysis::slots says, so a mistake there shows as a
// wrong or missing row. An executor is immutable and safe to share; a State belongs to one sequence.
#pragma once
#include <functional>
#include <vector>

#include "analysis/analysis.h"
#include "plan/plan.h"
#include "reference/equations.h"
#include "weights/tensor.h"

namespace onceover::reference {

// Weights by WeightId, flattened row-major.
using Weights = std::vector<Vector>;

// The numbers of stored tensors, one a weight (bind_weights() gives them), unchanged.
Weights widen(const std::vector<TensorView>& tensors);

// What one sequence keeps between calls, by slot.
struct State {
  int64_t tokens = 0;
  std::vector<RowsOf> slots;  // Kind::Matrix keeps its matrix [heads, head_dim, v_head_dim] as row 0

  int64_t elements() const;  // numbers held now
};

class Executor {
 public:
  // Keeps references: plan, analysis and weights must outlive it. std::logic_error when they do not belong
  // together.
  Executor(const Plan& plan, const Analysis& analysis, const Weights& weights);

  // Sees the rows of a value, once per call, in the order of the steps.
  using Observer = std::function<void(ValueId, const RowsOf&)>;

  // Takes `tokens` on top of `state`; returns logits by absolute row for `asked` rows (every fresh row when
  // the analysis was made with LogitRows::Every). `observe`, when given, sees every value that was demanded.
  // Error for more tokens than learned positions, std::out_of_range for a token outside the vocabulary or an
  // asked row that is not fresh, with the state untouched; std::logic_error for a row that was needed but not
  // made (a mistake in the analysis) or the state of another plan.
  RowsOf run(State& state, const std::vector<int>& tokens, const std::vector<int64_t>& asked,
             const Observer& observe = {}) const;

 private:
  const Plan& plan_;
  const Analysis& analysis_;
  const Weights& weights_;
};

}  // namespace onceover::reference
