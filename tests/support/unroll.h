// Looped models as models without sharing: each iteration gets weights of its own.
#pragma once
#include <functional>
#include <vector>

#include "plan/plan.h"
#include "reference/reference.h"

namespace onceover::test {

struct Unrolled {
  Plan plan;
  std::vector<WeightId> original;  // by weight of `plan`: the weight of the looped plan that it copies
};

// Weight "w" read in iteration t > 0 becomes "w.loop{t}". Steps are otherwise the same.
Unrolled unroll(const Plan& looped);

// Weights for `deep`, an architecture without loops, taken by name from those of `looped`: layer l from layer
// source(l).
reference::Weights copy_layers(const Plan& deep, const Plan& looped, const reference::Weights& weights,
                               const std::function<int(int)>& source);

}  // namespace onceover::test
