// A plan at one depth, prepared for inference: its analysis, how its state is stored, where its values lie.
#pragma once
#include <map>
#include <vector>

#include "analysis/analysis.h"
#include "cpu/kernels/page.h"
#include "cpu/memory.h"

namespace onceover::cpu {

class DepthPlan {
 public:
  // Error when one value is read as keys or values of heads of different sizes.
  DepthPlan(Plan of, KvType kv);

  struct Scratch {
    std::vector<StepAction> actions;
    MemoryPlan memory;
  };
  // For passes of `rows` rows or less; planned once for each power of two.
  const Scratch& scratch(int64_t rows);

  const Plan plan;
  const Analysis analysis;
  const uint64_t fingerprint;
  const int loops;                           // iterations of the loop that a token passes; 1 without a loop
  std::vector<kernels::PageLayout> layouts;  // by slot; unused for matrices
  std::vector<ValueId> layer_ends;           // the last demanded step of each application of a layer

 private:
  std::map<int64_t, Scratch> scratch_;
};

}  // namespace onceover::cpu
