// Training on the CPU: the plan's own reverse pass behind the trainer's interface
// (execution/training_executor.h).
//
// One TrainingStep is compiled for each plan and batch shape met, and kept. With a fixed number of threads a
// run repeats bit for bit. Tokens outside the vocabulary are an Error; out of memory is std::bad_alloc.
#pragma once
#include <map>
#include <memory>
#include <tuple>

#include "cpu/parameters.h"
#include "cpu/training_step.h"
#include "execution/training_executor.h"

namespace onceover::cpu {

struct TrainerOptions {
  Recompute recompute = Recompute::None;
  int threads = 0;  // 0 = as many as the machine has
};

class Trainer : public TrainingExecutor {
 public:
  Trainer(PlanAtDepth plan_at_depth, const TrainerOptions& options);

  LossSum accumulate(const TokenBatch& batch, const Depth& depth, double loss_scale,
                     double balance_scale) override;
  LossSum evaluate(const TokenBatch& batch, const Depth& depth) override;
  double gradient_norm() override;
  void update(const AdamW& settings) override;
  const std::vector<WeightSpec>& weights() const override { return plan(0).weights; }
  std::vector<float> read(WeightId id, Tensor which) const override;
  void write(WeightId id, Tensor which, std::span<const float> values) override;
  std::string find_nonfinite(const TokenBatch& batch, const Depth& depth) override;
  std::vector<double> loop_rms(const TokenBatch& batch, const Depth& depth) override;
  double peak_flops() const override;  // measured, ceilings.h
  int64_t planned_bytes() const override;

 private:
  struct StepKey {
    const Plan* plan;
    int gradient_loops;
    bool with_gradients;
    int64_t sequences, length;
    auto operator<=>(const StepKey&) const = default;
  };
  const Plan& plan(int loops) const;
  TrainingStep& step(const Plan& p, const TokenBatch& batch, int gradient_loops, bool with_gradients);
  LossSum run(const TokenBatch& batch, const Depth& depth, bool with_gradients, LossScale scale,
              const TrainingStep::Look& look = {});

  PlanAtDepth plan_at_depth_;
  TrainerOptions options_;
  mutable std::map<int, std::shared_ptr<const Plan>> plans_;  // of one fingerprint: one
  Parameters parameters_;
  std::map<StepKey, TrainingStep> steps_;
  kernels::Buffer arena_;
  int64_t arena_floats_ = 0;
};

}  // namespace onceover::cpu
