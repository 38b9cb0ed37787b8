#include "support/training.h"

#include <algorithm>
#include <cmath>

#include "architectures/registry.h"
#include "support/oracle.h"

namespace onceover::test {

using Tensor = TrainingExecutor::Tensor;

int64_t Tokens::scored() const {
  return std::ranges::count_if(targets, [](int32_t t) { return t >= 0; });
}

Tokens random_tokens(FreshRandom& random, int vocab, int64_t sequences, int64_t length) {
  Tokens t{sequences, length, random.tokens(sequences * length, vocab),
           random.tokens(sequences * length, vocab)};
  t.targets.front() = t.targets[static_cast<size_t>(length / 2)] = -1;
  return t;
}

PlanAtDepth plans_of(const Model& model) {
  return [config = model.config, own = model.loops](int loops) {
    return build(config, Run{loops > 0 ? loops : own});
  };
}

void write_all(TrainingExecutor& executor, TrainingExecutor::Tensor which,
               const reference::Weights& numbers) {
  for (WeightId id = 0; id < static_cast<WeightId>(numbers.size()); id++) {
    executor.write(id, which, std::vector<float>(numbers[id].begin(), numbers[id].end()));
  }
}

Plan stopped_plan(Plan plan, int gradient_loops) {
  const auto weights = static_cast<WeightId>(plan.weights.size());
  for (WeightId id = 0; id < weights; id++) {
    plan.weights.push_back(plan.weights[id]);
    plan.weights.back().name += ".before";
  }
  const auto copied = [weights](auto&... ids) { ((ids += ids == no_weight ? 0 : weights), ...); };
  const int loops = std::ranges::max_element(plan.steps, {}, &Step::loop)->loop + 1;
  for (Step& step : plan.steps) {
    if (step.loop == loops - gradient_loops) break;
    std::visit(Overload{[&](Embed& o) { copied(o.table); }, [&](Norm& o) { copied(o.weight, o.bias); },
                        [&](Linear& o) { copied(o.weight, o.bias); },
                        [&](Experts& o) { copied(o.router, o.gate, o.up, o.down); },
                        [&](Mix& o) { copied(o.weight); }, [](auto&) {}},
               step.op);
  }
  return plan;
}

double oracle_loss(const Plan& plan, const reference::Weights& weights, const Tokens& tokens) {
  double loss = 0;
  for (int64_t s = 0; s < tokens.sequences; s++) {
    const auto first = tokens.inputs.begin() + s * tokens.length;
    const std::vector<int> inputs(first, first + tokens.length);
    for (const auto& [row, logits] : all_logits(plan, weights, inputs)) {
      const int32_t target = tokens.targets[s * tokens.length + row];
      if (target < 0) continue;
      const double largest = *std::ranges::max_element(logits);
      double sum = 0;
      for (double x : logits) sum += std::exp(x - largest);
      loss += std::log(sum) + largest - logits[target];
    }
  }
  return loss;
}

Numbers read_all(const TrainingExecutor& executor, Tensor which) {
  Numbers all;
  for (WeightId id = 0; id < static_cast<WeightId>(executor.weights().size()); id++)
    all.push_back(executor.read(id, which));
  return all;
}

Numbers gradients(TrainingExecutor& executor, const Tokens& tokens, Depth depth, double balance_scale) {
  for (WeightId id = 0; id < static_cast<WeightId>(executor.weights().size()); id++) {
    executor.write(id, Tensor::Gradient,
                   std::vector<float>(static_cast<size_t>(executor.weights()[id].elements())));
  }
  executor.accumulate(tokens.batch(), depth, 1.0 / static_cast<double>(tokens.scored()), balance_scale);
  return read_all(executor, Tensor::Gradient);
}

double relative_difference(const Numbers& a, const Numbers& b) {
  double largest = 0, scale = 0;
  for (size_t w = 0; w < a.size(); w++) {
    for (size_t i = 0; i < a[w].size(); i++) {
      const double difference = std::fabs(static_cast<double>(a[w][i]) - b[w][i]);
      if (std::isnan(difference)) return INFINITY;
      largest = std::max(largest, difference);
      scale = std::max(scale, std::fabs(static_cast<double>(a[w][i])));
    }
  }
  return largest / scale;
}

}  // namespace onceover::test
