// One batch through a plan, forwards and backwards, by autograd.
//
// A plan is cut into segments. All but the last run forwards without a graph and keep only the values that
// cross to a later segment. Backwards, each segment runs again with a graph from those values, and gives its
// part of the gradient. With one segment this is ordinary back-propagation; with a segment a layer it is
// recomputation (Chen et al., arXiv 1604.06174). Steps before the first trained one are segments that never
// run again.
#pragma once
#include <functional>

#include "analysis/layers.h"
#include "execution/training_executor.h"
#include "torch/row_ops.h"

namespace onceover::torch_executor {

// What gradients of a batch are multiplied by.
struct LossScale {
  double token, balance;
};

// The plan's steps in order, cut at `first_trained` and, when recomputing, between layers or iterations.
std::vector<Segment> training_segments(const Plan& plan, ValueId first_trained, Recompute recompute);

class TrainingPass {
 public:
  // Keeps references.
  TrainingPass(const Plan& plan, const std::vector<Tensor>& weights, const TokenBatch& batch,
               at::Device device, bool bf16);

  // Adds gradients to those of `weights`.
  LossSum accumulate(const std::vector<Segment>& segments, ValueId first_trained, LossScale scale);

  // Without gradients; counts the correct tokens. `look` sees every value as it is made; false ends the pass.
  using Look = std::function<bool(ValueId, const Tensor&)>;
  LossSum evaluate(const Look& look = {});

 private:
  bool run(const Segment& segment, const Look& look = {});
  Tensor step(ValueId i);
  const RopeTable& rope_table_of(const Rope& op, int64_t head_dim);
  std::vector<ValueId> crossing(const Segment& segment) const;
  void run_forwards(const Segment& segment, ValueId first_trained);
  void run_backwards(const Segment& segment, LossScale scale);
  LossSum sum() const;

  const Plan& plan_;
  WeightReader weights_;
  at::Device device_;
  Tensor inputs_, targets_;  // [sequences, length]
  int64_t scored_;
  std::vector<bool> reaches_;
  std::vector<ValueId> last_reader_;  // by value
  std::vector<Tensor> values_;        // by value; undefined when not needed now
  std::map<std::pair<int64_t, RopeAngles>, RopeTable> rope_tables_;  // by head_dim and angles
  Tensor loss_, correct_, segment_balance_;
  double balance_ = 0;
};

}  // namespace onceover::torch_executor
