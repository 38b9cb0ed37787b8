#include <set>

#include "analysis/cost.h"
#include "base/error.h"

namespace onceover {
namespace {

int64_t sum_of(const std::vector<int64_t>& counts) {
  int64_t sum = 0;
  for (int64_t n : counts) {
    if (__builtin_add_overflow(sum, n, &sum)) throw Error("the model has more than 2^63 parameters");
  }
  return sum;
}

}  // namespace

ParameterCount count_parameters(const Plan& plan) {
  std::vector<int64_t> total, embedding;
  for (const WeightSpec& weight : plan.weights) {
    total.push_back(weight.elements());
    if (weight.embedding) embedding.push_back(weight.elements());
  }
  std::vector<int64_t> active = total;
  for (const Step& step : plan.steps) {
    const auto* experts = std::get_if<Experts>(&step.op);
    if (experts == nullptr) continue;
    for (WeightId w : {experts->gate, experts->up, experts->down}) {
      active[w] = total[w] / plan.weights[w].shape[0] * experts->active;
    }
  }
  return {sum_of(total), sum_of(active), sum_of(embedding)};
}

int64_t layer_applications(const Plan& plan) {
  std::set<std::pair<int, int>> applied;
  for (const Step& step : plan.steps) {
    const int layer = layer_of(plan.scopes[step.scope]);
    if (layer >= 0) applied.emplace(step.loop, layer);
  }
  return static_cast<int64_t>(applied.size());
}

}  // namespace onceover
