// Fresh random inputs for tests: other numbers in every run, from a seed that is printed (fresh_seed.h).
#pragma once
#include <cstdint>
#include <random>
#include <vector>

#include "plan/plan.h"
#include "reference/reference.h"

namespace onceover::test {

class FreshRandom {
 public:
  FreshRandom();

  uint64_t seed() const { return seed_; }
  double normal() { return std::normal_distribution<double>()(engine_); }
  int64_t between(int64_t low, int64_t high) { return std::uniform_int_distribution(low, high)(engine_); }
  std::vector<double> normals(size_t count);
  std::vector<int> tokens(int64_t count, int vocab);
  // Positive parts that add up to `total`.
  std::vector<int64_t> split(int64_t total);

 private:
  uint64_t seed_;
  std::mt19937_64 engine_;
};

// Weights that exercise everything: norms near 1, Mix near its initial values, all others normal with
// standard deviation 1/sqrt(fan in). A weight depends on its name, its shape and the seed alone, so plans
// that share names share numbers. Every number is a float exactly, so that executors of any precision hold
// the same.
reference::Weights random_weights(const Plan& plan, uint64_t seed);

// The weights moved up or down by about one rounding of single precision, otherwise for each draw. How far
// the oracle's results then move is how well single precision can know them: norms behind retention divide by
// sums that may cancel to almost nothing.
reference::Weights moved_by_rounding(reference::Weights weights, uint64_t draw = 0);

}  // namespace onceover::test
