#include <cmath>

#include "report/plot.h"

namespace onceover {

std::vector<double> smooth(const std::vector<double>& values, double half_life) {
  const double keep = half_life > 0 ? std::exp2(-1 / half_life) : 0;
  double sum = 0, weight = 0;
  std::vector<double> smoothed;
  smoothed.reserve(values.size());
  for (const double value : values) {
    if (!std::isfinite(value)) {
      smoothed.push_back(value);
      continue;
    }
    sum = keep * sum + (1 - keep) * value;
    weight = keep * weight + (1 - keep);
    smoothed.push_back(sum / weight);
  }
  return smoothed;
}

}  // namespace onceover
