// The CPU's reverse pass against the oracle: the loss itself, and gradients against the oracle's finite
// differences.
#include "cpu/trainer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "support/models.h"
#include "support/random.h"
#include "support/training.h"

namespace onceover::cpu {
namespace {

using test::FreshRandom;
using test::gradients;
using test::Model;
using test::moved_by_rounding;
using test::oracle_loss;
using test::random_tokens;
using test::relative_difference;
using test::Tokens;
using Tensor = TrainingExecutor::Tensor;

std::unique_ptr<Trainer> make_trainer(const Model& model, const reference::Weights& weights,
                                      TrainerOptions options = {}) {
  auto trainer = std::make_unique<Trainer>(test::plans_of(model), options);
  test::write_all(*trainer, Tensor::Weight, weights);
  return trainer;
}

class TrainerParity : public testing::TestWithParam<Model> {};

TEST_P(TrainerParity, LossEqualsTheOracles) {
  FreshRandom random;
  const Model& model = GetParam();
  const auto weights = test::random_weights(model.plan, random.seed());
  const Tokens tokens = random_tokens(random, model.config.vocab_size);
  const LossSum loss = make_trainer(model, weights)->evaluate(tokens.batch(), {});
  const double expected = oracle_loss(model.plan, weights, tokens);
  EXPECT_EQ(loss.tokens, tokens.scored());
  const double moved = oracle_loss(model.plan, moved_by_rounding(weights), tokens);
  EXPECT_NEAR(loss.loss, expected, 1e-5 * expected + 5 * std::fabs(moved - expected));
}

// Of the oracle's mean loss at the weights, along a direction of one of them.
double derivative_along(const std::vector<double>& direction, size_t weight, const Plan& plan,
                        reference::Weights weights, const Tokens& tokens) {
  constexpr double step = 1e-7;  // so short that hardly a token changes its experts
  double difference = 0;
  for (const double sign : {1.0, -2.0}) {
    for (size_t i = 0; i < direction.size(); i++) weights[weight][i] += sign * step * direction[i];
    difference += std::copysign(oracle_loss(plan, weights, tokens), sign);
  }
  return difference / (2 * step) / static_cast<double>(tokens.scored());
}

// A random direction of length 1, and what a gradient is along it and in all.
struct Along {
  std::vector<double> direction;
  double gradient, size;
};

Along random_direction(FreshRandom& random, const std::vector<float>& gradient) {
  Along along{random.normals(gradient.size()), 0, 0};
  auto& d = along.direction;
  const double norm = std::sqrt(std::inner_product(d.begin(), d.end(), d.begin(), 0.0));
  double squares = 0;
  for (size_t i = 0; i < d.size(); i++) {
    d[i] /= norm;
    along.gradient += d[i] * gradient[i];
    squares += static_cast<double>(gradient[i]) * gradient[i];
  }
  along.size = std::sqrt(squares);
  return along;
}

// For every weight, the derivative of the loss along one random direction of that weight.
TEST_P(TrainerParity, GradientsEqualTheOraclesFiniteDifferences) {
  FreshRandom random;
  const Model& model = GetParam();
  const auto weights = test::random_weights(model.plan, random.seed());
  const Tokens tokens = random_tokens(random, model.config.vocab_size);
  const auto trainer = make_trainer(model, weights);
  const auto gradient = gradients(*trainer, tokens);
  const auto moved = moved_by_rounding(weights);
  for (size_t w = 0; w < weights.size(); w++) {
    const Along along = random_direction(random, gradient[w]);
    const double exact = derivative_along(along.direction, w, model.plan, weights, tokens);
    const double elsewhere = derivative_along(along.direction, w, model.plan, moved, tokens);
    EXPECT_NEAR(along.gradient, exact, 2e-4 * along.size + 1e-6 + 5 * std::fabs(elsewhere - exact))
        << model.plan.weights[w].name;
  }
}

TEST_P(TrainerParity, RecomputationChangesNothing) {
  FreshRandom random;
  const Model& model = GetParam();
  const auto weights = test::random_weights(model.plan, random.seed());
  const Tokens tokens = random_tokens(random, model.config.vocab_size);
  const auto kept = make_trainer(model, weights);
  const auto gradient = gradients(*kept, tokens);
  for (Recompute recompute : {Recompute::Layers, Recompute::Iterations}) {
    const auto remade = make_trainer(model, weights, {recompute});
    EXPECT_EQ(gradient, gradients(*remade, tokens));
    EXPECT_LE(remade->planned_bytes(), kept->planned_bytes());
  }
}

TEST_P(TrainerParity, RunsRepeatBitForBitAndThreadsOnlyRound) {
  FreshRandom random;
  const Model& model = GetParam();
  const auto weights = test::random_weights(model.plan, random.seed());
  const Tokens tokens = random_tokens(random, model.config.vocab_size);
  const auto one = make_trainer(model, weights, {.threads = 1});
  const auto alone = gradients(*one, tokens);
  const auto two = make_trainer(model, weights, {.threads = 2});
  const auto first = gradients(*two, tokens);
  EXPECT_EQ(first, gradients(*two, tokens));
  EXPECT_LT(relative_difference(alone, first), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Every, TrainerParity, testing::ValuesIn(test::tiny_models()),
                         [](const auto& each) { return each.param.name; });

Model looped(int loops) { return test::tiny_model("looped", test::tiny_config("yoco-u"), loops); }

TEST(Trainer, TruncatedThroughEveryLoopIsTheFullGradient) {
  FreshRandom random;
  const Model model = looped(3);
  const auto weights = test::random_weights(model.plan, random.seed());
  const Tokens tokens = random_tokens(random, model.config.vocab_size);
  const auto trainer = make_trainer(model, weights);
  const auto full = gradients(*trainer, tokens);
  EXPECT_EQ(full, gradients(*trainer, tokens, {.gradient_loops = 3}));
  EXPECT_NE(full, gradients(*trainer, tokens, {.gradient_loops = 1}));
}

// Of the oracle's loss when the iterations before the last `gradient_loops` keep the weights they have.
TEST(Trainer, TruncatedGradientsEqualTheOraclesFiniteDifferencesOfAPlanWithTheStop) {
  FreshRandom random;
  for (const char* architecture : {"yoco-u", "universal", "rins"}) {
    const Model model = test::tiny_model("looped", test::tiny_config(architecture), 3);
    const auto weights = test::random_weights(model.plan, random.seed());
    const Tokens tokens = random_tokens(random, model.config.vocab_size);
    const auto trainer = make_trainer(model, weights);
    for (const int gradient_loops : {1, 2}) {
      const auto gradient = gradients(*trainer, tokens, {.gradient_loops = gradient_loops});
      const Plan stopped = test::stopped_plan(model.plan, gradient_loops);
      auto doubled = weights;
      doubled.insert(doubled.end(), weights.begin(), weights.end());
      for (size_t w = 0; w < weights.size(); w++) {
        const Along along = random_direction(random, gradient[w]);
        const double exact = derivative_along(along.direction, w, stopped, doubled, tokens);
        EXPECT_NEAR(along.gradient, exact, 2e-4 * along.size + 2e-6)
            << architecture << ", " << gradient_loops << " loops: " << model.plan.weights[w].name;
      }
    }
  }
}

// Four micro-batches weigh by their tokens: together they are the one batch.
TEST(Trainer, MicroBatchesAddUpToTheBatch) {
  FreshRandom random;
  const Model model = looped(2);
  const auto weights = test::random_weights(model.plan, random.seed());
  Tokens tokens = random_tokens(random, model.config.vocab_size);
  const int64_t length = tokens.length;
  std::fill(tokens.targets.begin() + 3, tokens.targets.begin() + length, -1);  // 2 targets against 19
  const auto trainer = make_trainer(model, weights);
  const auto whole = gradients(*trainer, tokens);
  const double scale = 1.0 / static_cast<double>(tokens.scored());
  const auto parts = make_trainer(model, weights);
  for (int64_t s = 0; s < tokens.sequences; s++) {
    const auto part = [&](const std::vector<int32_t>& all) {
      return std::span(all).subspan(s * length, length);
    };
    parts->accumulate({1, length, part(tokens.inputs), part(tokens.targets)}, {}, scale, 0);
  }
  EXPECT_LT(relative_difference(whole, test::read_all(*parts, Tensor::Gradient)), 5e-6);
}

// Each application of a routed layer adds its own balance loss, which is the coefficient when every expert is
// as likely.
TEST(Trainer, BalanceLossesAddUpOverRoutedLayersAndLoops) {
  FreshRandom random;
  Config config = test::tiny_config("yoco-u");
  test::route_experts(config);
  const Model model = test::tiny_model("routed", config, 3);
  auto weights = test::random_weights(model.plan, random.seed());
  const Tokens tokens = random_tokens(random, model.config.vocab_size);
  const double applications = config.num_hidden_layers / 2 * (3 + 1),
               coefficient = config.router_aux_loss_coef;
  for (WeightId w = 0; w < std::ssize(weights); w++) {
    if (model.plan.weights[w].name.ends_with(".mlp.gate.weight")) std::ranges::fill(weights[w], 0);
  }
  EXPECT_NEAR(make_trainer(model, weights)->evaluate(tokens.batch(), {}).balance, applications * coefficient,
              1e-6);
}

// As parts of a step, micro-batches weigh by their scored tokens: a step of equal ones has the balance loss
// of one, and four times one in a batch have it, too.
TEST(Trainer, BalanceLossOfEqualMicroBatchesIsThatOfTheBatch) {
  FreshRandom random;
  Config config = test::tiny_config("yoco-u");
  test::route_experts(config);
  const Model model = test::tiny_model("routed", config, 2);
  const auto weights = test::random_weights(model.plan, random.seed());
  const Tokens one = random_tokens(random, model.config.vocab_size, 1);
  Tokens four{4, one.length, {}, {}};
  for (int i = 0; i < 4; i++) {
    four.inputs.insert(four.inputs.end(), one.inputs.begin(), one.inputs.end());
    four.targets.insert(four.targets.end(), one.targets.begin(), one.targets.end());
  }
  const auto whole = make_trainer(model, weights), parts = make_trainer(model, weights);
  const double scale = 1.0 / static_cast<double>(four.scored());
  const double balance = whole->accumulate(four.batch(), {}, scale, 1).balance;
  for (int i = 0; i < 4; i++)
    EXPECT_NEAR(parts->accumulate(one.batch(), {}, scale, 0.25).balance, balance, 1e-6 * balance);
  EXPECT_LT(
      relative_difference(test::read_all(*whole, Tensor::Gradient), test::read_all(*parts, Tensor::Gradient)),
      5e-6);
}

TEST(Trainer, RefusesTokensOutsideTheVocabulary) {
  FreshRandom random;
  const Model model = looped(1);
  const auto trainer = make_trainer(model, test::random_weights(model.plan, random.seed()));
  Tokens tokens = random_tokens(random, model.config.vocab_size);
  tokens.inputs[5] = model.config.vocab_size;
  EXPECT_THROW(trainer->evaluate(tokens.batch(), {}), Error);
  tokens.inputs[5] = -1;
  EXPECT_THROW(trainer->evaluate(tokens.batch(), {}), Error);
}

TEST(Trainer, NamesTheFirstValueThatIsNotFinite) {
  FreshRandom random;
  const Model model = looped(2);
  auto weights = test::random_weights(model.plan, random.seed());
  const auto& specs = model.plan.weights;
  const auto bad =
      std::ranges::find(specs, "model.layers.1.mlp.up_proj.weight", &WeightSpec::name) - specs.begin();
  weights[bad][0] = INFINITY;
  const auto trainer = make_trainer(model, weights);
  const std::string place =
      trainer->find_nonfinite(random_tokens(random, model.config.vocab_size).batch(), {});
  EXPECT_EQ(place, "model.layers.1.mlp (linear), loop 0");
}

// 1e25 is a number, and so is its square's reciprocal, 0: a norm must not hide the overflow between them.
TEST(Trainer, AnOverflowInANormDoesNotPassForAHiddenStateOfZero) {
  FreshRandom random;
  const Model model = looped(2);
  auto weights = test::random_weights(model.plan, random.seed());
  const auto& specs = model.plan.weights;
  const auto large =
      std::ranges::find(specs, "model.layers.1.mlp.up_proj.weight", &WeightSpec::name) - specs.begin();
  for (double& w : weights[large]) w *= 1e25;
  const auto trainer = make_trainer(model, weights);
  const Tokens tokens = random_tokens(random, model.config.vocab_size);
  EXPECT_FALSE(std::isfinite(trainer->accumulate(tokens.batch(), {}, 1, 0).loss));
  EXPECT_NE(trainer->find_nonfinite(tokens.batch(), {}), "");
}

// Looping must not cost memory like depth does: an iteration keeps what it passes to the next, one hidden
// state.
TEST(Trainer, RecomputingKeepsOneHiddenStateForAnIteration) {
  FreshRandom random;
  const Model deepest = looped(32);
  const Tokens tokens = random_tokens(random, deepest.config.vocab_size);
  std::vector<int64_t> bytes;
  for (int loops : {8, 16, 32}) {
    const Model model = looped(loops);
    const auto trainer =
        make_trainer(model, test::random_weights(model.plan, random.seed()), {Recompute::Iterations});
    const LossSum sum = trainer->accumulate(tokens.batch(), {}, 1, 0);
    EXPECT_TRUE(std::isfinite(sum.loss) && std::isfinite(trainer->gradient_norm())) << loops;
    bytes.push_back(trainer->planned_bytes());
  }
  const int64_t hidden_state = tokens.sequences * tokens.length * deepest.config.hidden_size * 4;
  EXPECT_GE(bytes[1] - bytes[0], 8 * hidden_state);
  EXPECT_LE(bytes[1] - bytes[0], 10 * hidden_state);
  EXPECT_EQ(bytes[2] - bytes[1], 2 * (bytes[1] - bytes[0]));
}

TEST(Trainer, MeasuresTheHiddenStateAfterEachIteration) {
  FreshRandom random;
  const Model model = looped(3);
  const auto weights = test::random_weights(model.plan, random.seed());
  const Tokens tokens = random_tokens(random, model.config.vocab_size);
  const std::vector<double> rms = make_trainer(model, weights)->loop_rms(tokens.batch(), {});
  ASSERT_EQ(rms.size(), 3u);
  // The first iterations of a deeper run are those of a shallower one, whose loop then ends.
  const Model shallow = looped(2);
  const std::vector<double> fewer = make_trainer(shallow, weights)->loop_rms(tokens.batch(), {});
  ASSERT_EQ(fewer.size(), 2u);
  for (size_t t = 0; t < 2; t++) EXPECT_NEAR(fewer[t], rms[t], 1e-6 * rms[t]);
  EXPECT_GT(rms[2], 0);
  EXPECT_TRUE(make_trainer(looped(1), weights)->loop_rms(tokens.batch(), {}).empty());
}

TEST(Trainer, LearnsAFixedBatchByHeart) {
  FreshRandom random;
  const Model model = looped(2);
  const auto trainer = make_trainer(model, test::random_weights(model.plan, random.seed()));
  const Tokens tokens = random_tokens(random, model.config.vocab_size);
  const double scale = 1.0 / static_cast<double>(tokens.scored());
  const double before = trainer->evaluate(tokens.batch(), {}).loss * scale;
  for (int64_t step = 1; step <= 60; step++) {
    trainer->accumulate(tokens.batch(), {}, scale, 0);
    trainer->update({.learning_rate = 1e-2,
                     .beta1 = 0.9,
                     .beta2 = 0.95,
                     .epsilon = 1e-8,
                     .weight_decay = 0,
                     .step = step,
                     .gradient_scale = 1,
                     .decayed = {}});
  }
  EXPECT_LT(trainer->evaluate(tokens.batch(), {}).loss * scale, 0.3 * before);
}

}  // namespace
}  // namespace onceover::cpu
