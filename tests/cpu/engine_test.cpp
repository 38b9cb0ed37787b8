// Inference on the CPU against the oracle, fed in pieces.
#include "cpu/engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "cpu/batch_support.h"
#include "weights/dtype.h"

namespace onceover::cpu {
namespace {

using test::FreshRandom;
using test::Model;

InferenceEngine make_engine(const Model& model, const reference::Weights& weights) {
  return InferenceEngine(model.plan, packed(model.plan, weights));
}

class EngineParity : public testing::TestWithParam<Model> {};

TEST_P(EngineParity, LogitsAfterAnyPiecesEqualTheOracles) {
  FreshRandom random;
  const Model& model = GetParam();
  const auto weights = test::random_weights(model.plan, random.seed());
  const auto tokens = random.tokens(60, model.config.vocab_size);
  const ExpectedLogits expected(test::ExactLogits(model.plan, weights, tokens));
  InferenceEngine engine = make_engine(model, weights);
  for (int round = 0; round < 3; round++) {
    engine.reset();
    int64_t fed = 0;
    for (int64_t piece : random.split(60)) {
      const auto logits = engine.feed(std::span(tokens).subspan(fed, piece));
      fed += piece;
      ASSERT_EQ(engine.tokens(), fed);
      expected.expect_near(logits, fed - 1);
    }
  }
}

TEST_P(EngineParity, OneTokenAtATimeEqualsOnePass) {
  FreshRandom random;
  const Model& model = GetParam();
  const auto weights = test::random_weights(model.plan, random.seed());
  const auto tokens = random.tokens(40, model.config.vocab_size);
  const ExpectedLogits expected(test::ExactLogits(model.plan, weights, tokens));
  InferenceEngine engine = make_engine(model, weights);
  for (int64_t i = 0; i < 40; i++) expected.expect_near(engine.feed(std::span(tokens).subspan(i, 1)), i);
}

TEST_P(EngineParity, LogitsOfEveryTokenEqualTheOracles) {
  FreshRandom random;
  const Model& model = GetParam();
  const auto weights = test::random_weights(model.plan, random.seed());
  const auto tokens = random.tokens(40, model.config.vocab_size);
  const ExpectedLogits expected(test::ExactLogits(model.plan, weights, tokens));
  InferenceEngine engine = make_engine(model, weights);
  engine.feed(std::span(tokens).first(7));
  const auto logits = engine.feed_all(std::span(tokens).subspan(7));
  ASSERT_EQ(std::ssize(logits), 33 * model.config.vocab_size);
  ASSERT_EQ(engine.tokens(), 40);
  for (int64_t i = 0; i < 33; i++)
    expected.expect_near(logits.subspan(i * model.config.vocab_size, model.config.vocab_size), 7 + i);
}

INSTANTIATE_TEST_SUITE_P(Every, EngineParity, testing::ValuesIn(test::tiny_models()),
                         [](const auto& each) { return each.param.name; });

TEST(Engine, PromptsLongerThanAChunkEqualOnePass) {
  FreshRandom random;
  const Model model = test::tiny_model("long", test::tiny_config("yoco-u"));
  const auto weights = test::random_weights(model.plan, random.seed());
  const auto tokens = random.tokens(2 * EngineOptions{}.chunk_tokens + 9, model.config.vocab_size);
  InferenceEngine engine = make_engine(model, weights);
  const ExpectedLogits expected(test::ExactLogits(model.plan, weights, tokens));
  expected.expect_near(engine.feed(tokens), std::ssize(tokens) - 1);
  engine.reset();
  const auto all = engine.feed_all(tokens);
  for (int64_t i = 0; i < std::ssize(tokens); i++)
    expected.expect_near(all.subspan(i * model.config.vocab_size, model.config.vocab_size), i);
}

// Positions and angles in 16 bits would make places that far from the start the same.
TEST(Engine, SwappedTokensFarFromTheStartDifferInBf16AsInF32) {
  FreshRandom random;
  Config config = test::tiny_config("transformer");
  config.max_position_embeddings = 8192;
  const Model model = test::tiny_model("far", config);
  std::vector<std::vector<float>> numbers;
  for (const auto& weight : test::random_weights(model.plan, random.seed())) {
    numbers.emplace_back();
    for (const double value : weight)
      numbers.back().push_back(bf16_to_f32(f32_to_bf16(static_cast<float>(value))));
  }
  auto tokens = random.tokens(5000, model.config.vocab_size);
  tokens[4094] = 1, tokens[4095] = 2;
  auto swapped = tokens;
  std::swap(swapped[4094], swapped[4095]);
  const auto change = [&](WeightFormat format) {
    InferenceEngine engine(model.plan, std::make_shared<InferenceWeights>(model.plan, format, numbers));
    const auto before = engine.feed(tokens);
    reference::Vector moved(before.begin(), before.end());
    engine.reset();
    const auto after = engine.feed(swapped);
    for (size_t i = 0; i < after.size(); i++) moved[i] -= after[i];
    return moved;
  };
  const auto in_f32 = change(WeightFormat::F32), in_bf16 = change(WeightFormat::BF16);
  EXPECT_GT(std::ranges::max(in_f32), 1e-5);
  EXPECT_LT(test::relative_difference(in_bf16, in_f32), 1e-2);
}

TEST(Engine, RefusesNoTokensAndTokensOutsideTheVocabulary) {
  FreshRandom random;
  const Model model = test::tiny_model("small", test::tiny_config("yoco"));
  InferenceEngine engine = make_engine(model, test::random_weights(model.plan, random.seed()));
  EXPECT_THROW(engine.feed({}), Error);
  EXPECT_THROW(engine.feed_all({}), Error);
  const std::vector<int32_t> outside = {1, model.config.vocab_size};
  EXPECT_THROW(engine.feed(outside), Error);
  EXPECT_EQ(engine.tokens(), 0);
}

}  // namespace
}  // namespace onceover::cpu
