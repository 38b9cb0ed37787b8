// Fresh weights, the same on every machine.
//
// Element i of a weight depends on (seed, name of the weight, i) and nothing else: not on the order of
// weights, threads or the machine's mathematical library. Random bits are SplitMix64 (Steele, Lea, Flood
// 2014) at counter i of a stream keyed by the hash of the name; normals are the inverse normal distribution
// (Wichura 1988, AS241 PPND7, relative error 1e-7).
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "plan/plan.h"

namespace onceover {

// Fills all elements of one weight. std::logic_error when `out` or Init::values does not have spec.elements()
// numbers.
void initialise(const WeightSpec& spec, uint64_t seed, std::span<float> out);

// One vector per weight of the plan, by WeightId.
std::vector<std::vector<float>> initial_weights(const Plan& plan, uint64_t seed);

// The x with Φ(x) = p, 0 < p < 1.
double normal_quantile(double p);

}  // namespace onceover
