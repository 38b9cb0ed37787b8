// Inference by libtorch against the oracle, fed in pieces.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "support/oracle.h"
#include "torch/support.h"

namespace onceover::test {
namespace {

std::unique_ptr<Engine> make_engine(const Model& model, const reference::Weights& weights,
                                    TorchOptions options = {}) {
  std::vector<std::vector<float>> single;
  for (const auto& weight : weights) single.emplace_back(weight.begin(), weight.end());
  if (options.threads == 0) options.threads = 1;
  return torch_module().make_engine(model.plan, std::move(single), options);
}

class TorchEngine : public testing::TestWithParam<Model> {};

TEST_P(TorchEngine, LogitsAfterAnyPiecesEqualTheOracles) {
  FreshRandom random;
  const Model& model = GetParam();
  const auto weights = random_weights(model.plan, random.seed());
  const auto tokens = random.tokens(40, model.config.vocab_size);
  const ExactLogits exact(model.plan, weights, tokens);
  const auto engine = make_engine(model, weights);
  for (const auto& pieces : {random.split(40), std::vector<int64_t>(40, 1), std::vector<int64_t>{40}}) {
    engine->reset();
    int64_t fed = 0;
    for (int64_t piece : pieces) {
      const auto logits = engine->feed(std::span(tokens).subspan(fed, piece));
      fed += piece;
      ASSERT_EQ(engine->tokens(), fed);
      ASSERT_LT(relative_difference(logits, exact.row(fed - 1)), exact.single_precision(fed - 1))
          << "token " << fed;
    }
  }
}

TEST_P(TorchEngine, LogitsOfEveryTokenAreThoseOfOneAtATime) {
  FreshRandom random;
  const Model& model = GetParam();
  const auto weights = random_weights(model.plan, random.seed());
  const auto tokens = random.tokens(20, model.config.vocab_size);
  const ExactLogits exact(model.plan, weights, tokens);
  const auto engine = make_engine(model, weights);
  engine->feed(std::span(tokens).first(7));
  const auto logits = engine->feed_all(std::span(tokens).subspan(7));
  ASSERT_EQ(std::ssize(logits), 13 * model.config.vocab_size);
  for (int64_t i = 0; i < 13; i++) {
    const auto row = logits.subspan(i * model.config.vocab_size, model.config.vocab_size);
    ASSERT_LT(relative_difference(row, exact.row(7 + i)), exact.single_precision(7 + i)) << "token " << 7 + i;
  }
}

INSTANTIATE_TEST_SUITE_P(Every, TorchEngine, testing::ValuesIn(tiny_models()),
                         [](const auto& each) { return each.param.name; });

TEST(TorchEngineChunks, PromptsLongerThanAChunkEqualOnePass) {
  FreshRandom random;
  const Model model = tiny_model("long", tiny_config("yoco-u"));
  const auto weights = random_weights(model.plan, random.seed());
  const auto tokens = random.tokens(521, model.config.vocab_size);
  const auto engine = make_engine(model, weights);
  const auto expected = all_logits(model.plan, weights, tokens).at(520);
  EXPECT_LT(relative_difference(engine->feed(tokens), expected), 1e-5);
  const double half =
      relative_difference(make_engine(model, weights, {.bf16 = true})->feed(tokens), expected);
  EXPECT_GT(half, 1e-5);  // else it was not used
  EXPECT_LT(half, 0.2);
}

TEST(TorchEngineChunks, RefusesNoTokensAndTokensOutsideTheVocabulary) {
  FreshRandom random;
  const Model model = tiny_model("small", tiny_config("yoco"));
  const auto engine = make_engine(model, random_weights(model.plan, random.seed()));
  EXPECT_THROW(engine->feed({}), Error);
  const std::vector<int32_t> outside = {1, model.config.vocab_size};
  EXPECT_THROW(engine->feed(outside), Error);
  EXPECT_EQ(engine->tokens(), 0);
}

}  // namespace
}  // namespace onceover::test
