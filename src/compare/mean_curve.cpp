#include "compare/mean_curve.h"

#include <map>

namespace onceover {
namespace {

struct Measured {
  std::vector<double> tokens, flops, seconds, loss;
};

double mean_of(const std::vector<double>& values) { return spread_of(values)->mean; }

}  // namespace

std::vector<MeanPoint> mean_curve(const Cell& cell, const std::vector<RunOutcome>& outcomes) {
  std::map<int64_t, Measured> by_step;
  for (const size_t run : cell.runs) {
    for (const Record& record : outcomes[run].records) {
      if (!record.validation) continue;
      Measured& at = by_step[record.step];
      at.tokens.push_back(static_cast<double>(record.tokens));
      at.flops.push_back(record.flops);
      at.seconds.push_back(record.wall_seconds);
      at.loss.push_back(record.validation->loss);
    }
  }
  std::vector<MeanPoint> curve;
  for (const auto& [step, at] : by_step) {
    if (at.loss.size() != cell.runs.size()) continue;
    curve.push_back({step, mean_of(at.tokens), mean_of(at.flops), mean_of(at.seconds), *spread_of(at.loss)});
  }
  return curve;
}

std::optional<double> flops_share_to_reach(const std::vector<MeanPoint>& reference,
                                           const std::vector<MeanPoint>& curve) {
  if (reference.empty() || !(reference.back().flops > 0)) return std::nullopt;
  const double target = reference.back().loss.mean;
  for (size_t i = 0; i < curve.size(); i++) {
    if (!(curve[i].loss.mean <= target)) continue;
    double flops = curve[i].flops;
    if (i > 0) {
      const double before = curve[i - 1].loss.mean;
      flops -= (flops - curve[i - 1].flops) * (target - curve[i].loss.mean) / (before - curve[i].loss.mean);
    }
    return flops / reference.back().flops;
  }
  return std::nullopt;
}

}  // namespace onceover
