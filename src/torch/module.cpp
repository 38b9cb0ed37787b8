// The one door of this module: what the program gets by loading it (execution/torch_module.h).
#include "torch/engine.h"
#include "torch/memory.h"
#include "torch/trainer.h"

namespace onceover::torch_executor {
namespace {

std::unique_ptr<TrainingExecutor> make_trainer(PlanAtDepth plan_at_depth, const TorchOptions& options) {
  return std::make_unique<Trainer>(std::move(plan_at_depth), options);
}

std::unique_ptr<Engine> make_engine(Plan plan, std::vector<std::vector<float>> weights,
                                    const TorchOptions& options) {
  return std::make_unique<InferenceEngine>(std::move(plan), std::move(weights), options);
}

int64_t planned_bytes(const Plan& plan, int64_t sequences, int64_t length, int gradient_loops,
                      const TorchOptions& options) {
  return weight_bytes(plan) +
         estimate_step_bytes(plan, {sequences, length}, gradient_loops, options.recompute);
}

constexpr TorchModule module_table{ONCEOVER_VERSION, make_trainer, make_engine, planned_bytes};

}  // namespace
}  // namespace onceover::torch_executor

extern "C" __attribute__((visibility("default"))) const onceover::TorchModule* onceover_torch_module() {
  return &onceover::torch_executor::module_table;
}
