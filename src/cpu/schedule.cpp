#include "cpu/schedule.h"

#include <algorithm>

#include "analysis/layers.h"

namespace onceover::cpu {
namespace {

class Scheduler {
 public:
  Scheduler(const Plan& plan, const ScheduleOptions& options)
      : plan_(plan),
        reaches_(reaches_logits(plan)),
        first_trained_(first_trained(plan, options.gradient_loops)) {
    actions_ = schedule_forward(plan);
    const auto segments = layer_segments(plan, options.recompute == Recompute::Iterations);
    for (auto segment = segments.rbegin(); segment != segments.rend() && segment->last >= first_trained_;
         ++segment) {
      if (options.recompute != Recompute::None && segment->last > segment->first) repeat_forward(*segment);
      for (ValueId i = segment->last; i >= std::max(segment->first, first_trained_); i--) {
        if (reaches_[i]) actions_.push_back({Pass::Backward, i});
      }
    }
  }

  std::vector<StepAction> take() { return std::move(actions_); }

 private:
  // Makes the inner values again that this segment's backward steps read, directly or through each other.
  void repeat_forward(const Segment& segment) {
    std::vector<bool> wanted(plan_.steps.size());
    const auto inner = [&](ValueId v) {
      return v >= segment.first && v <= segment.last && !crosses(v, segment);
    };
    for (ValueId i = segment.last; i >= segment.first; i--) {
      if (!reaches_[i]) continue;
      const BackwardReads reads = backward_reads(plan_.steps[i].op);
      if (reads.output && inner(i)) wanted[i] = true;
      for_inputs(plan_.steps[i].op, [&](const char*, ValueId v, Reads) {
        if (inner(v) && (reads.inputs || wanted[i])) wanted[v] = true;
      });
    }
    for (ValueId i = segment.first; i <= segment.last; i++) {
      if (wanted[i]) actions_.push_back({Pass::Forward, i});
    }
  }

  bool crosses(ValueId v, const Segment& segment) const {
    for (auto i = static_cast<size_t>(segment.last) + 1; i < plan_.steps.size(); i++) {
      bool read = false;
      for_inputs(plan_.steps[i].op, [&](const char*, ValueId input, Reads) { read |= input == v; });
      if (read && reaches_[i]) return true;
    }
    return false;
  }

  const Plan& plan_;
  std::vector<bool> reaches_;
  ValueId first_trained_;
  std::vector<StepAction> actions_;
};

}  // namespace

BackwardReads backward_reads(const Op& op) {
  return std::visit(Overload{
                        [](const Attend&) {
                          return BackwardReads{true, true};
                        },
                        [](const Embed&) {
                          return BackwardReads{false, false};
                        },
                        [](const Rope&) {
                          return BackwardReads{false, false};
                        },
                        [](const Add&) {
                          return BackwardReads{false, false};
                        },
                        [](const auto&) {
                          return BackwardReads{true, false};
                        },
                    },
                    op);
}

std::vector<StepAction> schedule_forward(const Plan& plan) {
  std::vector<StepAction> actions;
  const std::vector<bool> reaches = reaches_logits(plan);
  for (ValueId i = 0; i < static_cast<ValueId>(plan.steps.size()); i++) {
    if (reaches[i]) actions.push_back({Pass::Forward, i});
  }
  return actions;
}

std::vector<StepAction> schedule_step(const Plan& plan, const ScheduleOptions& options) {
  return Scheduler(plan, options).take();
}

}  // namespace onceover::cpu
