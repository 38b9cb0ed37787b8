// Training by libtorch behind the trainer's interface (execution/training_executor.h): gradients by its
// autograd, on a CPU or a GPU.
//
// planned_bytes() is an estimate (memory.h). On a CPU a run repeats bit for bit with the same number of
// threads; on a GPU libtorch promises that only for some of its kernels. Tokens outside the vocabulary are an
// Error.
#pragma once
#include <map>
#include <memory>

#include "execution/torch_module.h"
#include "torch/training_pass.h"

namespace onceover::torch_executor {

class Trainer : public TrainingExecutor {
 public:
  Trainer(PlanAtDepth plan_at_depth, const TorchOptions& options);

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
  int64_t planned_bytes() const override { return weight_bytes_ + step_bytes_; }

 private:
  const Plan& plan(int loops) const;
  const WeightArena& arena(Tensor which) const { return arenas_[static_cast<size_t>(which)]; }
  TrainingPass pass(const TokenBatch& batch, const Depth& depth) const;

  PlanAtDepth plan_at_depth_;
  TorchOptions options_;
  at::Device device_;
  mutable std::map<int, std::unique_ptr<const Plan>> plans_;
  std::array<WeightArena, 4> arenas_;  // by TrainingExecutor::Tensor
  int64_t weight_bytes_, step_bytes_ = 0;
};

}  // namespace onceover::torch_executor
