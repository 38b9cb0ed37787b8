// What a training step will hold, estimated from the plan: autograd decides for itself what it keeps, so
// these are counts of what its formulas save, in f32. Pure functions.
#pragma once
#include <cstdint>

#include "execution/training_executor.h"

namespace onceover::torch_executor {

struct StepSize {
  int64_t sequences, length;
};

// Bytes of one batch of this size: kept values, saved inner results and the logits with their gradient.
int64_t estimate_step_bytes(const Plan& plan, StepSize size, int gradient_loops, Recompute recompute);

// Weights, gradients and two moments.
int64_t weight_bytes(const Plan& plan);

}  // namespace onceover::torch_executor
