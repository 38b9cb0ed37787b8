#include "analysis/analysis.h"

#include <algorithm>
#include <stdexcept>

#include "base/error.h"

namespace onceover {
namespace {

std::vector<Rows> demand_of(const Plan& plan, LogitRows logits) {
  std::vector<Rows> demand(plan.steps.size(), Rows::None);
  demand[plan.logits] = logits == LogitRows::Every ? Rows::All : Rows::Logits;
  for (size_t i = plan.steps.size(); i-- > 0;) {
    if (demand[i] == Rows::None) continue;
    for_inputs(plan.steps[i].op, [&](const char*, ValueId input, Reads reads) {
      demand[input] = std::max(demand[input], reads == Reads::History ? Rows::All : demand[i]);
    });
  }
  return demand;
}

bool is_matrix(const Retention& r) { return r.kind == Retention::Kind::Matrix; }

Retention larger(const Retention& a, const Retention& b) {
  if (a.kind == Retention::Kind::Every || b.kind == Retention::Kind::Every)
    return {Retention::Kind::Every, 0};
  return a.window >= b.window ? a : b;
}

// Collects what each value must leave behind, then lists it in order of value.
class SlotFinder {
 public:
  explicit SlotFinder(const Plan& plan) : plan_(plan), found_(plan.steps.size()) {}

  void visit(ValueId step) {
    const Op& op = plan_.steps[step].op;
    if (const auto* attend = std::get_if<Attend>(&op)) {
      keep_rows(attend->k, attend->mask);
      keep_rows(attend->v, attend->mask);
    } else if (const auto* retain = std::get_if<Retain>(&op)) {
      const int64_t elements = matrix_elements(plan_, *retain);
      keep(step, {step, elements, {Retention::Kind::Matrix, 0}});
    }
  }

  void finish(Analysis& analysis) const {
    analysis.slot_of.assign(found_.size(), -1);
    for (size_t value = 0; value < found_.size(); value++) {
      if (found_[value].width == 0) continue;
      analysis.slot_of[value] = static_cast<int>(analysis.slots.size());
      analysis.slots.push_back(found_[value]);
    }
  }

 private:
  void keep_rows(ValueId value, const Mask& mask) {
    const auto kind = mask.window == 0 ? Retention::Kind::Every : Retention::Kind::Window;
    keep(value, {value, plan_.steps[value].width, {kind, mask.window}});
  }

  void keep(ValueId value, const Slot& slot) {
    Slot& found = found_[value];
    if (found.width == 0) {
      found = slot;
      return;
    }
    if (is_matrix(found.keep) != is_matrix(slot.keep)) {
      throw std::logic_error("a retention output is also read as keys or values; put a step between them");
    }
    found.keep = larger(found.keep, slot.keep);
  }

  const Plan& plan_;
  std::vector<Slot> found_;  // by value; width 0 = none
};

}  // namespace

int64_t Retention::rows(int64_t tokens) const {
  switch (kind) {
    case Kind::Every:
      return tokens;
    case Kind::Window:
      return std::min<int64_t>(window, tokens);
    case Kind::Matrix:
      break;
  }
  return 1;
}

int64_t matrix_elements(const Plan& plan, const Retain& retain) {
  const int64_t k_head_dim = plan.steps[retain.k].width / retain.heads;
  return k_head_dim * plan.steps[retain.v].width;
}

int64_t Analysis::state_elements(int64_t tokens) const {
  int64_t sum = 0;
  for (const Slot& slot : slots) {
    int64_t elements = 0;
    if (__builtin_mul_overflow(slot.keep.rows(tokens), slot.width, &elements) ||
        __builtin_add_overflow(sum, elements, &sum)) {
      throw Error("the state of {} tokens has more than 2^63 elements", tokens);
    }
  }
  return sum;
}

Analysis analyse(const Plan& plan, LogitRows logits) {
  Analysis analysis;
  analysis.demand = demand_of(plan, logits);
  SlotFinder finder(plan);
  for (size_t i = 0; i < plan.steps.size(); i++) {
    if (analysis.demand[i] != Rows::None) finder.visit(static_cast<ValueId>(i));
  }
  finder.finish(analysis);
  return analysis;
}

}  // namespace onceover
