// The iterations of a plan's loop: how many, and where they end.
#pragma once
#include <vector>

#include "plan/plan.h"

namespace onceover {

// How often the repeated steps run; 1 for a plan that repeats nothing.
int iterations(const Plan& plan);

// The hidden state after each iteration of the loop, in order: the last value of iteration 0, 1, … that a
// step behind the iteration reads. Empty for a plan that repeats nothing.
std::vector<ValueId> loop_ends(const Plan& plan);

}  // namespace onceover
