// The libtorch executor against the oracle, and against the CPU executor: two ways to a gradient that share
// no line.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "torch/support.h"

namespace onceover::test {
namespace {

using Kind = TrainingExecutor::Tensor;

class TorchParity : public testing::TestWithParam<Model> {
 protected:
  const Model& model = GetParam();
  FreshRandom random;
  const reference::Weights weights = random_weights(model.plan, random.seed());
  const Tokens tokens = random_tokens(random, model.config.vocab_size);
  const PlanAtDepth plans = plans_of(model);
};

TEST_P(TorchParity, LossEqualsTheOracles) {
  const LossSum loss = torch_trainer(plans, weights)->evaluate(tokens.batch(), {});
  const double expected = oracle_loss(model.plan, weights, tokens);
  EXPECT_EQ(loss.tokens, tokens.scored());
  const double moved = oracle_loss(model.plan, moved_by_rounding(weights), tokens);
  EXPECT_NEAR(loss.loss, expected, 1e-5 * expected + 5 * std::fabs(moved - expected));
}

// 1e-4, and a few times what moving the weights by a rounding changes.
double tolerance(const PlanAtDepth& plans, const reference::Weights& weights, const Tokens& tokens,
                 const Depth& depth = {}) {
  const auto here = gradients(*cpu_trainer(plans, weights), tokens, depth, 0.5);
  const auto there = gradients(*cpu_trainer(plans, moved_by_rounding(weights)), tokens, depth, 0.5);
  return 1e-4 + 5 * relative_difference(here, there);
}

TEST_P(TorchParity, GradientsAndLossesEqualTheCpuExecutors) {
  const double allowed = tolerance(plans, weights, tokens);
  const auto ours = cpu_trainer(plans, weights), theirs = torch_trainer(plans, weights);
  EXPECT_LT(relative_difference(gradients(*ours, tokens, {}, 0.5), gradients(*theirs, tokens, {}, 0.5)),
            allowed);
  const LossSum a = ours->accumulate(tokens.batch(), {}, 1, 1),
                b = theirs->accumulate(tokens.batch(), {}, 1, 1);
  EXPECT_NEAR(a.loss, b.loss, allowed * a.loss);
  EXPECT_NEAR(a.balance, b.balance, 1e-5 * a.balance);
  EXPECT_EQ(a.tokens, b.tokens);
  EXPECT_FALSE(b.correct);
  EXPECT_NEAR(ours->gradient_norm(), theirs->gradient_norm(), allowed * ours->gradient_norm());
}

// Along random directions through all weights at once. Steps are so short that no token changes its experts.
TEST_P(TorchParity, GradientsEqualTheOraclesFiniteDifferences) {
  const auto gradient = gradients(*torch_trainer(plans, weights), tokens);
  double elements = 0;
  for (const auto& weight : weights) elements += static_cast<double>(weight.size());
  const double step = 1e-7 / std::sqrt(elements), allowed = 10 * tolerance(plans, weights, tokens);
  for (int n = 0; n < 3; n++) {
    auto up = weights, down = weights;
    double along = 0, size = 0;
    for (size_t w = 0; w < weights.size(); w++) {
      const auto direction = random.normals(weights[w].size());
      for (size_t i = 0; i < direction.size(); i++) {
        up[w][i] += step * direction[i];
        down[w][i] -= step * direction[i];
        along += direction[i] * gradient[w][i];
        size += static_cast<double>(gradient[w][i]) * gradient[w][i];
      }
    }
    const double difference = (oracle_loss(model.plan, up, tokens) - oracle_loss(model.plan, down, tokens)) /
                              (2 * step) / static_cast<double>(tokens.scored());
    EXPECT_NEAR(along, difference, allowed * std::sqrt(size));
  }
}

TEST_P(TorchParity, RecomputationChangesNothing) {
  const auto kept = torch_trainer(plans, weights);
  const auto gradient = gradients(*kept, tokens, {}, 0.5);
  const LossSum loss = kept->accumulate(tokens.batch(), {}, 1, 1);
  for (Recompute recompute : {Recompute::Layers, Recompute::Iterations}) {
    const auto remade = torch_trainer(plans, weights, {.recompute = recompute});
    EXPECT_LT(relative_difference(gradient, gradients(*remade, tokens, {}, 0.5)), 1e-6);
    EXPECT_LE(remade->planned_bytes(), kept->planned_bytes());
    const LossSum again = remade->accumulate(tokens.batch(), {}, 1, 1);
    EXPECT_NEAR(again.loss, loss.loss, 1e-6 * loss.loss);
    EXPECT_NEAR(again.balance, loss.balance, 1e-6);
  }
}

TEST_P(TorchParity, TruncatedGradientsEqualTheCpuExecutors) {
  for (int loops = 1; loops < model.loops; loops++) {
    const Depth depth{.gradient_loops = loops};
    const auto ours = cpu_trainer(plans, weights);
    const auto expected = gradients(*ours, tokens, depth, 0.5);
    const double allowed = tolerance(plans, weights, tokens, depth);
    const LossSum loss = ours->accumulate(tokens.batch(), depth, 1, 1);
    for (Recompute recompute : {Recompute::None, Recompute::Layers, Recompute::Iterations}) {
      const auto theirs = torch_trainer(plans, weights, {.recompute = recompute});
      EXPECT_LT(relative_difference(expected, gradients(*theirs, tokens, depth, 0.5)), allowed);
      EXPECT_NEAR(theirs->accumulate(tokens.batch(), depth, 1, 1).balance, loss.balance, 1e-6);
    }
  }
}

// From the same gradients: Adam divides by their size, so a gradient that is all rounding would move a weight
// by a whole step in either direction.
TEST_P(TorchParity, StepsOfAdamwEqualTheCpuExecutors) {
  const auto ours = cpu_trainer(plans, weights), theirs = torch_trainer(plans, weights);
  AdamW settings{.learning_rate = 1e-2,
                 .beta1 = 0.9,
                 .beta2 = 0.95,
                 .epsilon = 1e-8,
                 .weight_decay = 0.1,
                 .step = 1,
                 .gradient_scale = 0.7,
                 .decayed = std::vector<bool>(weights.size(), true)};
  settings.decayed[0] = false;
  for (; settings.step <= 3; settings.step++) {
    const auto gradient = random_weights(model.plan, random.seed() + static_cast<uint64_t>(settings.step));
    for (TrainingExecutor* executor : {ours.get(), theirs.get()}) {
      write_all(*executor, Kind::Gradient, gradient);
      executor->update(settings);
    }
  }
  for (Kind which : {Kind::Weight, Kind::FirstMoment, Kind::SecondMoment})
    EXPECT_LT(relative_difference(read_all(*ours, which), read_all(*theirs, which)), 1e-6);
  EXPECT_EQ(theirs->gradient_norm(), 0);
}

INSTANTIATE_TEST_SUITE_P(Every, TorchParity, testing::ValuesIn(tiny_models()),
                         [](const auto& each) { return each.param.name; });

Model looped(int loops) { return tiny_model("looped", tiny_config("yoco-u"), loops); }

TEST(TorchTrainer, HalfPrecisionComesNearTheSameGradient) {
  FreshRandom random;
  const Model model = looped(3);
  const auto weights = random_weights(model.plan, random.seed());
  const Tokens tokens = random_tokens(random, model.config.vocab_size);
  const PlanAtDepth plans = plans_of(model);
  const auto single = torch_trainer(plans, weights), half = torch_trainer(plans, weights, {.bf16 = true});
  const double difference = relative_difference(gradients(*single, tokens), gradients(*half, tokens));
  EXPECT_GT(difference, 1e-5);  // else it was not used
  EXPECT_LT(difference, 0.8);
  const double loss = single->evaluate(tokens.batch(), {}).loss;
  EXPECT_NEAR(half->evaluate(tokens.batch(), {}).loss, loss, 0.03 * loss);
  const auto remade = torch_trainer(plans, weights, {.bf16 = true, .recompute = Recompute::Layers});
  EXPECT_LT(relative_difference(gradients(*half, tokens), gradients(*remade, tokens)), 0.05);
}

TEST(TorchTrainer, CountsTheTokensThatHaveTheLargestLogit) {
  FreshRandom random;
  const Model model = looped(2);
  const auto weights = random_weights(model.plan, random.seed());
  // Of so many random targets one in 29 is the likeliest token.
  const Tokens tokens = random_tokens(random, model.config.vocab_size, 8, 100);
  const auto ours = cpu_trainer(plans_of(model), weights)->evaluate(tokens.batch(), {}).correct;
  const auto theirs = torch_trainer(plans_of(model), weights)->evaluate(tokens.batch(), {}).correct;
  ASSERT_TRUE(ours && theirs);
  EXPECT_GT(*ours, 0);
  EXPECT_EQ(*ours, *theirs);
}

TEST(TorchTrainer, DepthsShareTheirWeights) {
  FreshRandom random;
  const Model model = looped(2);
  const auto weights = random_weights(model.plan, random.seed());
  const Tokens tokens = random_tokens(random, model.config.vocab_size);
  const auto trainer = torch_trainer(plans_of(model), weights);
  const double expected = oracle_loss(looped(4).plan, weights, tokens);
  EXPECT_NEAR(trainer->evaluate(tokens.batch(), {.loops = 4}).loss, expected, 1e-5 * expected);
}

TEST(TorchTrainer, MeasuresTheHiddenStateAsTheCpuExecutorDoes) {
  FreshRandom random;
  const Model model = looped(3);
  const auto weights = random_weights(model.plan, random.seed());
  const Tokens tokens = random_tokens(random, model.config.vocab_size);
  const auto expected = cpu_trainer(plans_of(model), weights)->loop_rms(tokens.batch(), {});
  const auto found = torch_trainer(plans_of(model), weights)->loop_rms(tokens.batch(), {});
  ASSERT_EQ(found.size(), 3);
  for (size_t t = 0; t < found.size(); t++) EXPECT_NEAR(found[t], expected[t], 1e-5 * expected[t]);
}

TEST(TorchTrainer, RefusesTokensOutsideTheVocabulary) {
  FreshRandom random;
  const Model model = looped(1);
  const auto trainer = torch_trainer(plans_of(model), random_weights(model.plan, random.seed()));
  Tokens tokens = random_tokens(random, model.config.vocab_size);
  tokens.inputs[5] = model.config.vocab_size;
  EXPECT_THROW(trainer->evaluate(tokens.batch(), {}), Error);
}

TEST(TorchTrainer, NamesTheFirstValueThatIsNotFinite) {
  FreshRandom random;
  const Model model = looped(2);
  auto weights = random_weights(model.plan, random.seed());
  const auto& specs = model.plan.weights;
  const auto bad =
      std::ranges::find(specs, "model.layers.1.mlp.up_proj.weight", &WeightSpec::name) - specs.begin();
  weights[bad][0] = INFINITY;
  const auto trainer = torch_trainer(plans_of(model), weights);
  EXPECT_EQ(trainer->find_nonfinite(random_tokens(random, model.config.vocab_size).batch(), {}),
            "model.layers.1.mlp (linear), loop 0");
}

}  // namespace
}  // namespace onceover::test
