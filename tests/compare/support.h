// A comparison small enough to train in milliseconds, on the CPU's own executor.
#pragma once
#include <functional>
#include <limits>
#include <string>

#include "compare/runner.h"

namespace onceover::testing {

// Three models on tracking swaps, 6 steps, one thread: "plain" (transformer), "deep" (yoco-u) with 1 and 3
// loops; equal steps and equal FLOPs, two seeds.
Recipe small_recipe();

// Writes a NaN into the first weight after this update of every executor whose model has `loops`.
struct Poison {
  int loops = 0;
  int64_t after_update = std::numeric_limits<int64_t>::max();
};
ComparisonTools cpu_tools(const Poison& poison = {});

}  // namespace onceover::testing
