// The order of work of one training step: a plan walked forwards, then backwards, with recomputation between.
//
// Recomputation is by layer application, or by iteration of the loop: only values that cross from one to
// another are kept, the inner ones are made again just before its backward steps. So T iterations need about
// the memory of one layer, or of one iteration, and T hidden states for each layer, or one. Source of the
// idea: Chen et al., arXiv 1604.06174. Pure functions of a plan.
#pragma once
#include <cstdint>
#include <vector>

#include "execution/training_executor.h"
#include "plan/plan.h"

namespace onceover::cpu {

enum class Pass : uint8_t { Forward, Backward };

struct StepAction {
  Pass pass;
  ValueId step;
};

struct ScheduleOptions {
  Recompute recompute = Recompute::None;
  // Gradients flow through the last `gradient_loops` iterations of the loop only (truncated back-propagation
  // through time); 0 = through all. What lies before the first of them is not trained by that step.
  int gradient_loops = 0;
};

// Every Forward in plan order, the Logits step's Backward following its Forward at once (the loss is fused
// with it), then Backward and repeated Forward actions. Steps that the loss does not depend on are left out.
std::vector<StepAction> schedule_step(const Plan& plan, const ScheduleOptions& options);

// The Forward actions alone: computing the loss, or inference.
std::vector<StepAction> schedule_forward(const Plan& plan);

// Which of its inputs, and whether its own output, an op's backward kernel reads.
struct BackwardReads {
  bool inputs;
  bool output;
};
BackwardReads backward_reads(const Op& op);

}  // namespace onceover::cpu
