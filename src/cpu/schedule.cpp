#include "cpu/schedule.h"

#include <algorithm>
#include <set>

namespace onceover::cpu {
namespace {

// A run of steps of one layer application or iteration; its inner values may be dropped and made again.
struct Segment {
  ValueId first, last;
};

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

std::vector<Segment> make_segments(const Plan& plan, Recompute recompute) {
  std::vector<Segment> segments;
  const std::vector<int> key = segment_keys(plan, recompute == Recompute::Iterations);
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

// The first step that gradients reach back to: the start of iteration loops - gradient_loops.
ValueId first_trained(const Plan& plan, int gradient_loops) {
  if (gradient_loops <= 0) return 0;
  int loops = 0;
  for (const Step& step : plan.steps) loops = std::max(loops, step.loop + 1);
  const int cut = loops - gradient_loops;
  if (cut <= 0) return 0;
  const auto at =
      std::find_if(plan.steps.begin(), plan.steps.end(), [&](const Step& s) { return s.loop == cut; });
  return static_cast<ValueId>(at - plan.steps.begin());
}

class Scheduler {
 public:
  Scheduler(const Plan& plan, const ScheduleOptions& options)
      : plan_(plan),
        reaches_(reaches_logits(plan)),
        first_trained_(first_trained(plan, options.gradient_loops)) {
    actions_ = schedule_forward(plan);
    const auto segments = make_segments(plan, options.recompute);
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
