#include "train/schedule.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "base/hash.h"

namespace onceover {
namespace {

// The share of the way from full to final that lies behind step `step`, 0 .. 1.
double decay_progress(const TrainSettings::Schedule& schedule, int64_t step, int64_t steps) {
  const auto share = [&](double begin) {
    return std::clamp((static_cast<double>(step) - begin) / std::max(1.0, static_cast<double>(steps) - begin),
                      0.0, 1.0);
  };
  const auto warmup = static_cast<double>(schedule.warmup_steps);
  if (schedule.shape != ScheduleShape::Wsd) return share(warmup);
  if (schedule.decay_fraction == 0) return 0;
  return share(std::max(warmup, static_cast<double>(steps) * (1 - schedule.decay_fraction)));
}

// Uniform in [0, 1), a function of its arguments alone.
double uniform(int64_t seed, int64_t step, int64_t draw) {
  const std::array<int64_t, 2> counter{step, draw};
  const uint64_t bits = hash64(std::as_bytes(std::span(counter)), static_cast<uint64_t>(seed));
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

}  // namespace

double learning_rate(const TrainSettings& settings, int64_t step, int64_t steps) {
  const auto& schedule = settings.schedule;
  const double full = settings.optimiser.learning_rate;
  if (step <= schedule.warmup_steps) {
    return full * static_cast<double>(step) / static_cast<double>(schedule.warmup_steps);
  }
  const double progress = decay_progress(schedule, step, steps);
  const double left = schedule.shape == ScheduleShape::Cosine
                          ? 0.5 * (1 + std::cos(std::numbers::pi * progress))
                          : 1 - progress;
  return full * (schedule.final_fraction + (1 - schedule.final_fraction) * left);
}

int sampled_loops(const TrainSettings& settings, int64_t step, int loops) {
  if (settings.loops.sampling == LoopSampling::Fixed) return loops;
  int drawn = 1;
  for (int i = 1; i < loops; i++) drawn += uniform(settings.run.seed, step, i) < settings.loops.probability;
  return drawn;
}

double loops_probability(const TrainSettings& settings, int loops, int most) {
  if (settings.loops.sampling == LoopSampling::Fixed) return loops == most ? 1 : 0;
  const int n = most - 1, k = loops - 1;
  if (k < 0 || k > n) return 0;
  const double p = settings.loops.probability;
  double probability = std::pow(p, k) * std::pow(1 - p, n - k);
  for (int i = 1; i <= k; i++) probability *= static_cast<double>(n - k + i) / i;
  return probability;
}

int64_t budgeted_steps(const TrainSettings& settings, int loops,
                       const std::function<double(int)>& flops_per_token) {
  if (settings.schedule.steps > 0) return settings.schedule.steps;
  const auto tokens = static_cast<double>(settings.batch.tokens);
  double steps = static_cast<double>(settings.schedule.tokens) / tokens;
  if (settings.schedule.flops > 0) {
    double expected = 0;
    for (int t = 1; t <= loops; t++) {
      const double probability = loops_probability(settings, t, loops);
      if (probability > 0) expected += probability * flops_per_token(t);
    }
    steps = settings.schedule.flops / (expected * tokens);
  }
  constexpr double most = 0x1p53;
  if (!(steps <= most)) throw Error("the budget gives {} steps, more than 2^53", steps);
  return std::max<int64_t>(1, static_cast<int64_t>(std::ceil(steps)));
}

}  // namespace onceover
