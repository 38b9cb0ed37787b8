// The libtorch executor, a shared module of its own: found beside the program and loaded when it is asked
// for.
//
// The program does not link it, since libtorch brings hundreds of libraries and half a second of start-up.
// The module's one exported function is `onceover_torch_module`; what it returns lives as long as the
// process.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "execution/engine.h"
#include "execution/training_executor.h"

namespace onceover {

struct TorchOptions {
  std::string device = "cpu";             // "cpu", "cuda" or "cuda:N"
  bool bf16 = false;                      // products of matrices in bfloat16; weights and sums stay f32
  Recompute recompute = Recompute::None;  // training
  int threads = 0;                        // on the CPU; 0 = as many as the machine has
};

struct TorchModule {
  const char* version;  // of the project it was built with
  // Error for a device that this libtorch or machine is without. Weights start at zero.
  std::unique_ptr<TrainingExecutor> (*make_trainer)(PlanAtDepth plan_at_depth, const TorchOptions& options);
  // `weights` by WeightId.
  std::unique_ptr<Engine> (*make_engine)(Plan plan, std::vector<std::vector<float>> weights,
                                         const TorchOptions& options);
  // What a trainer will plan for a step over `sequences` of `length` tokens
  // (TrainingExecutor::planned_bytes).
  int64_t (*planned_bytes)(const Plan& plan, int64_t sequences, int64_t length, int gradient_loops,
                           const TorchOptions& options);
};

// Error when there is no module in `folder`, it cannot be loaded, or it is of another version.
const TorchModule& load_torch_module(const std::filesystem::path& folder);

// The module beside the running program.
const TorchModule& torch_module();

}  // namespace onceover

extern "C" using OnceoverTorchModule = const onceover::TorchModule * (*)();
