// One training step of one plan at one shape, compiled: the schedule, the memory plan and the kernels to
// call.
//
// Everything that does not depend on numbers is decided when it is made; run() then only calls kernels. A
// step is bound to the plan it was made from (which must outlive it) and used by one thread; the kernels
// inside use OpenMP's threads.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "cpu/kernels/experts.h"
#include "cpu/kernels/rope.h"
#include "cpu/memory.h"
#include "cpu/parameters.h"
#include "execution/training_executor.h"

namespace onceover::cpu {

struct StepShape {
  int64_t sequences, length;
  int64_t rows() const { return sequences * length; }
};

// What the gradients of a run are multiplied by.
struct LossScale {
  double token = 1;    // of the sum of token losses
  double balance = 1;  // of the balance losses
};

using RopeTables = std::map<std::pair<int64_t, RopeAngles>, kernels::RopeTable>;  // by head_dim and angles

class TrainingStep {
 public:
  // Without `gradients` only the loss is computed, and memory is planned for that.
  TrainingStep(const Plan& plan, StepShape shape, std::optional<ScheduleOptions> gradients);

  // Sees every value as soon as it is made; false ends the run.
  using Look = std::function<bool(ValueId, std::span<const float> value)>;

  // Adds gradients to `parameters` (if made for them) and returns the loss. arena holds arena_floats()
  // floats. Tokens must lie in the vocabulary.
  LossSum run(const TokenBatch& batch, Parameters& parameters, float* arena, LossScale scale,
              const Look& look = {});

  int64_t arena_floats() const { return memory_.arena_floats; }

 private:
  const Plan& plan_;
  StepShape shape_;
  std::vector<StepAction> actions_;
  MemoryPlan memory_;
  RopeTables rope_tables_;
  std::vector<int64_t> positions_;                 // of every row in its sequence
  std::map<ValueId, kernels::ExpertsTape> tapes_;  // what routing chose, by step
  bool with_gradients_;
};

}  // namespace onceover::cpu
