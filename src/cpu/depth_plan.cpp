#include "cpu/depth_plan.h"

#include <algorithm>
#include <bit>

#include "analysis/layers.h"
#include "analysis/loops.h"
#include "base/error.h"

namespace onceover::cpu {
namespace {

// A slot that any Attend reads as keys is kept as keys.
std::vector<kernels::PageLayout> lay_out(const Plan& plan, const Analysis& analysis, KvType kv) {
  std::vector<kernels::PageLayout> layouts(analysis.slots.size());
  const auto read = [&](ValueId value, int64_t heads, bool is_key) {
    const int64_t width = plan.steps[value].width, part = width / heads;
    auto& layout = layouts[static_cast<size_t>(analysis.slot_of[value])];
    if (layout.width > 0 && layout.part != part) {
      throw Error("{} is read with heads of {} and of {} columns; one cache cannot serve both",
                  place_of(plan, value), layout.part, part);
    }
    layout = {width, part, kv, layout.is_key || is_key};
  };
  for (size_t i = 0; i < plan.steps.size(); i++) {
    const auto* attend = std::get_if<Attend>(&plan.steps[i].op);
    if (!attend || analysis.demand[i] == Rows::None) continue;
    read(attend->k, attend->kv_heads, true);
    read(attend->v, attend->kv_heads, false);
  }
  return layouts;
}

std::vector<ValueId> find_layer_ends(const Plan& plan, const Analysis& analysis) {
  std::vector<ValueId> ends;
  for (const Segment& segment : layer_segments(plan, false)) {
    if (layer_of(plan.scopes[plan.steps[segment.last].scope]) < 0) continue;
    ValueId last = segment.last;
    while (last > segment.first && analysis.demand[last] == Rows::None) last--;
    ends.push_back(last);
  }
  return ends;
}

}  // namespace

DepthPlan::DepthPlan(Plan of, KvType kv)
    : plan(std::move(of)),
      analysis(analyse(plan)),
      fingerprint(plan.fingerprint()),
      loops(iterations(plan)),
      layouts(lay_out(plan, analysis, kv)),
      layer_ends(find_layer_ends(plan, analysis)) {}

const DepthPlan::Scratch& DepthPlan::scratch(int64_t rows) {
  const auto most = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(rows)));
  const auto found = scratch_.find(most);
  if (found != scratch_.end()) return found->second;
  Scratch made;
  made.actions = schedule_forward(plan);
  made.memory = plan_memory(plan, made.actions, most, [](const Op&) { return 0; });
  return scratch_.emplace(most, std::move(made)).first->second;
}

}  // namespace onceover::cpu
