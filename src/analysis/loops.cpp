#include "analysis/loops.h"

namespace onceover {

std::vector<ValueId> loop_ends(const Plan& plan) {
  std::vector<ValueId> ends;
  ValueId last_add = -1;
  int current = 0;
  for (ValueId id = 0; id < static_cast<ValueId>(plan.steps.size()); id++) {
    const Step& step = plan.steps[id];
    // Steps outside the loop count as iteration 0: those before it belong to its first, those behind end its
    // last.
    if (step.loop != current && last_add >= 0) ends.push_back(last_add);
    if (step.loop != current && step.loop == 0) break;
    current = step.loop;
    if (std::holds_alternative<Add>(step.op)) last_add = id;
  }
  if (current > 0 && static_cast<int>(ends.size()) == current) ends.push_back(last_add);
  return ends;
}

}  // namespace onceover
