#include "analysis/layers.h"

#include <algorithm>
#include <set>

#include "analysis/loops.h"

namespace onceover {

namespace {

// By step: its layer; the same number for all layers of the loop when iterations are not to be divided; -1
// outside layers.
std::vector<int> segment_keys(const Plan& plan, bool whole_iterations) {
  std::vector<int> keys;
  std::set<int> looped;
  for (const Step& step : plan.steps) {
    keys.push_back(layer_of(plan.scopes[step.scope]));
    if (step.loop > 0 && whole_iterations) looped.insert(keys.back());
  }
  for (int& key : keys) {
    if (key >= 0 && looped.contains(key)) key = *looped.begin();
  }
  return keys;
}

}  // namespace

std::vector<Segment> layer_segments(const Plan& plan, bool whole_iterations) {
  std::vector<Segment> segments;
  const std::vector<int> key = segment_keys(plan, whole_iterations);
  for (ValueId i = 0; i < static_cast<ValueId>(plan.steps.size()); i++) {
    const bool joins =
        i > 0 && key[i] >= 0 && key[i] == key[i - 1] && plan.steps[i].loop == plan.steps[i - 1].loop;
    if (joins) {
      segments.back().last = i;
    } else {
      segments.push_back({i, i});
    }
  }
  return segments;
}

std::vector<bool> reaches_logits(const Plan& plan) {
  std::vector<bool> reaches(plan.steps.size());
  reaches[plan.logits] = true;
  for (ValueId i = plan.logits; i >= 0; i--) {
    if (!reaches[i]) continue;
    for_inputs(plan.steps[i].op, [&](const char*, ValueId v, Reads) { reaches[v] = true; });
  }
  return reaches;
}

ValueId first_trained(const Plan& plan, int gradient_loops) {
  if (gradient_loops <= 0) return 0;
  const int cut = iterations(plan) - gradient_loops;
  if (cut <= 0) return 0;
  const auto at =
      std::find_if(plan.steps.begin(), plan.steps.end(), [&](const Step& s) { return s.loop == cut; });
  return static_cast<ValueId>(at - plan.steps.begin());
}

}  // namespace onceover
