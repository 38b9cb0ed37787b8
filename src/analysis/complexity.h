// How memory and work grow, found by evaluation: Table 1 of arXiv 2604.01220, measured instead of quoted.
//
// Plans of several sizes are built and counted. For each measure the exact polynomial in the sequence length
// N is taken from three lengths; each coefficient is then followed while layers L, loops T, window W and
// width D double in turn. Exponents are fitted to the logarithm of the increments from one doubling to the
// next, so that a part that does not grow (the last layer of a prefill, which runs one row) does not blur
// them.
#pragma once
#include <functional>
#include <vector>

#include "analysis/analysis.h"
#include "plan/plan.h"

namespace onceover {

struct PlanSize {
  int layers, loops, window, width;  // width: of residual, keys and values together
};

// Builds the plan of a size; a family without loops or windows ignores them.
using PlanFamily = std::function<Plan(const PlanSize&)>;

// One coefficient: tokens^N-power * layers^… as fitted.
struct Growth {
  Retention::Kind part;  // the state it belongs to: Every = masks without a window, Matrix = retention
  int tokens;            // power of N
  double layers, loops, window, width;
  double coefficient;  // of N^tokens at the smallest size
  double residual;     // largest distance from the fitted lines, in powers of two
};

// Every coefficient that is not negligible, the highest power of N first within a part.
struct Complexity {
  std::vector<Growth> state_elements;
  std::vector<Growth> prefill_flops;  // attention and retention over N tokens, logits of the last
  std::vector<Growth> decode_flops;   // attention and retention of the Nth token alone
  std::vector<Growth> decode_reads;   // state elements read by the Nth token
};

Complexity fit_complexity(const PlanFamily& family);

}  // namespace onceover
