#include "generate/perplexity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "support/errors.h"

namespace onceover {
namespace {

// Foretells tokens the worse the more it holds: after n of them, n + 1 nats for whatever comes. It writes
// down how many it held at each scored token.
class Forgetful : public Engine {
 public:
  static constexpr int size = 4;
  int vocabulary() const override { return size; }
  int64_t tokens() const override { return tokens_; }
  void reset() override { tokens_ = 0; }
  std::span<const float> feed(std::span<const int32_t> tokens) override {
    tokens_ += std::ssize(tokens);
    silent += std::ssize(tokens);
    return {};
  }
  std::span<const float> feed_all(std::span<const int32_t> tokens) override {
    logits_.assign(tokens.size() * size, 0);
    for (size_t i = 0; i < tokens.size(); i++) {
      held.push_back(++tokens_);
      // The token that follows i is (i's + 1) % size: its probability is exp(-held) of the whole.
      const double others = std::log((1 - std::exp(-static_cast<double>(tokens_))) / (size - 1));
      for (int t = 0; t < size; t++) logits_[i * size + t] = static_cast<float>(others);
      logits_[i * size + (tokens[i] + 1) % size] = static_cast<float>(-tokens_);
    }
    return logits_;
  }

  std::vector<int64_t> held;
  int64_t silent = 0;

 private:
  std::vector<float> logits_;
  int64_t tokens_ = 0;
};

std::vector<int32_t> rising(int64_t count) {
  std::vector<int32_t> tokens(static_cast<size_t>(count));
  for (size_t i = 0; i < tokens.size(); i++) tokens[i] = static_cast<int32_t>(i) % Forgetful::size;
  return tokens;
}

TEST(Perplexity, WithoutOverlapEveryWindowStartsAnew) {
  Forgetful engine;
  const TokenLosses losses = token_losses(engine, rising(9), {.context = 3, .stride = 3});
  EXPECT_EQ(engine.held, (std::vector<int64_t>{1, 2, 3, 1, 2, 3, 1, 2}));
  EXPECT_EQ(losses.tokens, 8);
  EXPECT_NEAR(losses.nats, 15, 1e-4);
  EXPECT_NEAR(losses.perplexity(), std::exp(15 / 8.0), 1e-4);
}

TEST(Perplexity, OverlappingWindowsScoreEveryTokenOnceAfterAtLeastTheOverlap) {
  Forgetful engine;
  const TokenLosses losses = token_losses(engine, rising(9), {.context = 4, .stride = 1});
  EXPECT_EQ(engine.held, (std::vector<int64_t>{1, 2, 3, 4, 4, 4, 4, 4}));
  EXPECT_EQ(losses.tokens, 8);
  EXPECT_EQ(engine.silent, 4 * 3);
}

TEST(Perplexity, ALongContextIsOneWindow) {
  Forgetful engine;
  const TokenLosses losses = token_losses(engine, rising(300), {.context = 1000, .stride = 1000});
  std::vector<int64_t> all(299);
  std::iota(all.begin(), all.end(), 1);
  EXPECT_EQ(engine.held, all);
  EXPECT_EQ(losses.tokens, 299);
}

TEST(Perplexity, EndsWhenProgressSaysSo) {
  Forgetful engine;
  EXPECT_EQ(
      token_losses(engine, rising(9), {.context = 3, .stride = 3}, [](const auto&) { return false; }).tokens,
      3);
}

TEST(Perplexity, RefusesWhatCannotBeScored) {
  Forgetful engine;
  EXPECT_EQ(error_of([&] { token_losses(engine, rising(1), {}); }),
            "perplexity needs at least 2 tokens, found 1");
  EXPECT_EQ(error_of([&] { token_losses(engine, rising(9), {.context = 3, .stride = 4}); }),
            "the stride must be from 1 to the context of 3 tokens, found 4");
  const std::vector<int32_t> outside = {1, Forgetful::size};
  EXPECT_EQ(error_of([&] { token_losses(engine, outside, {}); }), "token 4 is outside the vocabulary of 4");
}

}  // namespace
}  // namespace onceover
