// A looped plan as the plan of an untied model: every iteration of a loop gets weights of its own.
#pragma once
#include <vector>

#include "plan/plan.h"

namespace onceover::test {

struct Unrolled {
  Plan plan;
  std::vector<WeightId> original;  // by weight of `plan`: the weight of the looped plan that it copies
};

// Weight "w" read in iteration t > 0 becomes "w.loop{t}". Steps are otherwise the same.
Unrolled unroll(const Plan& looped);

}  // namespace onceover::test
