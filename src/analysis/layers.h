// Where a plan can be cut: layer applications, the steps that the loss depends on, the start of a truncated
// gradient. What executors share when they schedule a backward pass. Pure functions of a plan.
#pragma once
#include <vector>

#include "plan/plan.h"

namespace onceover {

// A run of steps, both ends included.
struct Segment {
  ValueId first, last;
};

// The applications of layers, in order: steps of one layer in one iteration of the loop are one segment, a
// step outside the layers is one by itself. Together they are all steps. With whole_iterations the layers of
// the loop are not divided: an iteration is one segment.
std::vector<Segment> layer_segments(const Plan& plan, bool whole_iterations);

// By step: whether the logits depend on it.
std::vector<bool> reaches_logits(const Plan& plan);

// The first step that gradients reach back to when they flow through the last `gradient_loops` iterations of
// the loop only (truncated back-propagation through time); 0 = through all. What lies before is not trained.
ValueId first_trained(const Plan& plan, int gradient_loops);

}  // namespace onceover
