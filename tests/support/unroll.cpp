#include "support/unroll.h"

#include <fmt/format.h>

#include <map>
#include <utility>

namespace onceover::test {
namespace {

// Calls f(WeightId&) for every weight of an op.
template <class F>
void rename_weights(Op& op, F f) {
  std::visit(Overload{
                 [&](Embed& o) { f(o.table); },
                 [&](Norm& o) {
                   if (o.weight != no_weight) f(o.weight);
                   if (o.bias != no_weight) f(o.bias);
                 },
                 [&](Linear& o) {
                   f(o.weight);
                   if (o.bias != no_weight) f(o.bias);
                 },
                 [&](Experts& o) {
                   for (WeightId* w : {&o.router, &o.gate, &o.up, &o.down}) f(*w);
                 },
                 [&](Mix& o) { f(o.weight); },
                 [&](Logits& o) { f(o.weight); },
                 [](auto&) {},
             },
             op);
}

}  // namespace

Unrolled unroll(const Plan& looped) {
  Unrolled result{looped, {}};
  result.plan.weights.clear();
  std::map<std::pair<WeightId, int>, WeightId> copies;
  for (Step& step : result.plan.steps) {
    rename_weights(step.op, [&](WeightId& weight) {
      const auto next = static_cast<WeightId>(result.plan.weights.size());
      const auto [copy, fresh] = copies.try_emplace({weight, step.loop}, next);
      if (fresh) {
        WeightSpec spec = looped.weights[weight];
        if (step.loop > 0) spec.name += fmt::format(".loop{}", step.loop);
        result.plan.weights.push_back(std::move(spec));
        result.original.push_back(weight);
      }
      weight = copy->second;
    });
  }
  return result;
}

reference::Weights copy_layers(const Plan& deep, const Plan& looped, const reference::Weights& weights,
                               const std::function<int(int)>& source) {
  std::map<std::string, reference::Vector> by_name;
  for (size_t w = 0; w < weights.size(); w++) by_name[looped.weights[w].name] = weights[w];
  reference::Weights copies;
  for (const WeightSpec& spec : deep.weights) {
    const std::string prefix = "model.layers.";
    std::string name = spec.name;
    if (const int layer = layer_of(name); layer >= 0)
      name.replace(prefix.size(), std::to_string(layer).size(), std::to_string(source(layer)));
    copies.push_back(by_name.at(name));
  }
  return copies;
}

}  // namespace onceover::test
