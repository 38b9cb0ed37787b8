#include "analysis/loops.h"

#include <algorithm>

namespace onceover {
namespace {

// The last value before step `boundary` that a step from there on reads.
ValueId passed_on(const Plan& plan, ValueId boundary) {
  ValueId last = -1;
  for (auto id = static_cast<size_t>(boundary); id < plan.steps.size(); id++) {
    for_inputs(plan.steps[id].op, [&](const char*, ValueId v, Reads) {
      if (v < boundary) last = std::max(last, v);
    });
  }
  return last;
}

}  // namespace

int iterations(const Plan& plan) {
  int last = 0;
  for (const Step& step : plan.steps) last = std::max(last, step.loop);
  return last + 1;
}

std::vector<ValueId> loop_ends(const Plan& plan) {
  std::vector<ValueId> ends;
  int current = 0;
  for (ValueId id = 0; id < static_cast<ValueId>(plan.steps.size()); id++) {
    const int loop = plan.steps[id].loop;
    if (loop == current) continue;
    // Steps outside the loop count as iteration 0: those before it belong to its first, those behind end its
    // last.
    ends.push_back(passed_on(plan, id));
    if (loop == 0) break;
    current = loop;
  }
  if (current > 0 && static_cast<int>(ends.size()) == current) ends.push_back(passed_on(plan, plan.logits));
  return ends;
}

}  // namespace onceover
