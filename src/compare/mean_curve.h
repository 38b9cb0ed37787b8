// A cell's validation loss over its training, as the mean over its seeds.
#pragma once
#include <optional>
#include <vector>

#include "compare/results.h"

namespace onceover {

struct MeanPoint {
  int64_t step = 0;
  double tokens = 0, flops = 0, seconds = 0;  // means, too
  Spread loss;                                // nats a token
};

// The steps that every run of the cell has measured, in rising order.
std::vector<MeanPoint> mean_curve(const Cell& cell, const std::vector<RunOutcome>& outcomes);

// FLOPs after which the curve first lies at the reference's last loss, as a share of the reference's FLOPs;
// linear between points. Nothing when it never does, or there is no reference.
std::optional<double> flops_share_to_reach(const std::vector<MeanPoint>& reference,
                                           const std::vector<MeanPoint>& curve);

}  // namespace onceover
