// Executors of the module that lies beside the test program, holding given weights.
#pragma once
#include "cpu/trainer.h"
#include "execution/torch_module.h"
#include "support/training.h"

namespace onceover::test {

inline std::unique_ptr<TrainingExecutor> torch_trainer(const PlanAtDepth& plans,
                                                       const reference::Weights& weights,
                                                       TorchOptions options = {}) {
  if (options.threads == 0) options.threads = 1;
  auto trainer = torch_module().make_trainer(plans, options);
  write_all(*trainer, TrainingExecutor::Tensor::Weight, weights);
  return trainer;
}

inline std::unique_ptr<TrainingExecutor> cpu_trainer(const PlanAtDepth& plans,
                                                     const reference::Weights& weights,
                                                     const cpu::TrainerOptions& options = {.threads = 1}) {
  auto trainer = std::make_unique<cpu::Trainer>(plans, options);
  write_all(*trainer, TrainingExecutor::Tensor::Weight, weights);
  return trainer;
}

// The weights moved up or down by about one rounding of single precision: how far results then move is how
// well single precision can know them. Norms behind retention divide by sums that may cancel to almost
// nothing.
inline reference::Weights moved_by_rounding(reference::Weights weights) {
  constexpr double rounding = 1.2e-7;
  for (auto& weight : weights) {
    for (size_t i = 0; i < weight.size(); i++) weight[i] *= i % 2 == 0 ? 1 + rounding : 1 - rounding;
  }
  return weights;
}

}  // namespace onceover::test
