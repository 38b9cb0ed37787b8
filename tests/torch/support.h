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

}  // namespace onceover::test
