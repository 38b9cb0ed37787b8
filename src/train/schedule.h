// What a step does that depends on its number alone: its learning rate and its depth. Pure functions.
#pragma once
#include <cstdint>
#include <functional>

#include "train/settings.h"

namespace onceover {

// Of step `step`, 1 .. steps. Rises linearly over the warm-up, reaches final_fraction at the last step. WSD
// (MiniCPM, arXiv 2404.06395) holds still between.
double learning_rate(const TrainSettings& settings, int64_t step, int64_t steps);

// The loops that step `step` runs, 1 .. loops: all, or 1 + Binomial(loops - 1, probability) (stochastic RINS,
// arXiv 2502.07503). Depends on run.seed and the step and nothing else, so a resumed run draws the same.
int sampled_loops(const TrainSettings& settings, int64_t step, int loops);

// How likely a step is to run `loops` of `most` loops.
double loops_probability(const TrainSettings& settings, int loops, int most);

// The steps of the budget, at least 1. `flops_per_token` of a depth is asked only for a budget of FLOPs;
// sampled depths count with their expectation.
int64_t budgeted_steps(const TrainSettings& settings, int loops,
                       const std::function<double(int)>& flops_per_token);

}  // namespace onceover
