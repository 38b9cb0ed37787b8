#include "generate/generate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/error.h"
#include "generate/stop_strings.h"
#include "text/byte_tokenizer.h"
#include "text/sentencepiece_models.h"

namespace onceover {
namespace {

// Says `cycle` for ever: after a byte of it comes the next one.
class Parrot : public Engine {
 public:
  explicit Parrot(std::string cycle, size_t unnamed_rows = 0)
      : cycle_(std::move(cycle)), logits_(static_cast<size_t>(ByteTokenizer().vocab_size()) + unnamed_rows) {}
  int vocabulary() const override { return static_cast<int>(logits_.size()); }
  int64_t tokens() const override { return tokens_; }
  void reset() override { tokens_ = 0; }
  std::span<const float> feed_all(std::span<const int32_t> tokens) override { return feed(tokens); }
  std::span<const float> feed(std::span<const int32_t> tokens) override {
    tokens_ += std::ssize(tokens);
    const size_t at = cycle_.find(static_cast<char>(tokens.back()));
    std::ranges::fill(logits_, 0.0F);
    logits_[static_cast<unsigned char>(cycle_[(at + 1) % cycle_.size()])] = 50;
    std::ranges::fill(std::span(logits_).subspan(static_cast<size_t>(ByteTokenizer().vocab_size())), 99.0F);
    return logits_;
  }

 private:
  std::string cycle_;
  std::vector<float> logits_;
  int64_t tokens_ = 0;
};

struct Said {
  std::string text;
  GenerateResult result;
};

Said say(const std::string& cycle, int64_t max_tokens, std::vector<std::string> stops,
         const std::string& prompt = "A") {
  const ByteTokenizer tokenizer;
  Parrot parrot(cycle);
  GenerateRequest request;
  request.prompt = tokenizer.encode(prompt);
  request.max_tokens = max_tokens;
  request.stops = std::move(stops);
  request.sampler.temperature = 0;
  Said said;
  said.result = generate(parrot, tokenizer, request, [&](const std::string& text) {
    said.text += text;
    return true;
  });
  return said;
}

TEST(Generate, StopStringsEndTheTextWhereverTokensBreak) {
  EXPECT_EQ(say("ABCDEFGHIJ", 50, {"DEFGHIJ"}).text, "BC");
  EXPECT_EQ(say("ABCDEFGHIJ", 6, {"DEFX"}).text, "BCDEFG");
  EXPECT_EQ(say("ABCDEFGHIJ", 50, {"CD", "BCDE"}).text, "B");
  EXPECT_EQ(say("ABCDEFGHIJ", 50, {"DEFGHIJ"}).result.finish, FinishReason::Stop);
  EXPECT_EQ(say("ABCDEFGHIJ", 6, {"DEFX"}).result.finish, FinishReason::Length);
  EXPECT_THROW(say("ABCDEFGHIJ", 6, {""}), Error);
}

TEST(Generate, TextHeldBackForAStopIsShownWhenTheLengthEndsIt) {
  EXPECT_EQ(say("ABCDEFGHIJ", 4, {"DEFG"}).text, "BCDE");
}

TEST(Generate, ACharacterIsNeverSplit) {
  const std::string cycle = "A\xE2\x9C\x85";  // A✅
  const ByteTokenizer tokenizer;
  Parrot parrot(cycle);
  GenerateRequest request;
  request.prompt = tokenizer.encode("A");
  request.max_tokens = 8;
  request.sampler.temperature = 0;
  std::vector<std::string> shown;
  generate(parrot, tokenizer, request, [&](const std::string& text) {
    shown.push_back(text);
    return true;
  });
  EXPECT_EQ(shown, (std::vector<std::string>{"\xE2\x9C\x85", "A", "\xE2\x9C\x85", "A"}));
}

TEST(Generate, TheReaderCanEndIt) {
  const ByteTokenizer tokenizer;
  Parrot parrot("ABC");
  GenerateRequest request;
  request.prompt = tokenizer.encode("A");
  int shown = 0;
  const GenerateResult result =
      generate(parrot, tokenizer, request, [&](const std::string&) { return ++shown < 3; });
  EXPECT_EQ(result.tokens.size(), 3u);
}

TEST(Generate, NothingIsShownToAReaderWhoEndedIt) {
  const ByteTokenizer tokenizer;
  Parrot parrot("ABCD");
  GenerateRequest request;
  request.prompt = tokenizer.encode("A");
  request.stops = {"BCX", "CDX"};  // after BCD only B is certain, CD is still held back
  request.sampler.temperature = 0;
  std::string shown;
  generate(parrot, tokenizer, request, [&](const std::string& text) {
    shown += text;
    return false;
  });
  EXPECT_EQ(shown, "B");
}

TEST(Generate, RowsWithoutATokenAreNeverDrawn) {
  const ByteTokenizer tokenizer;
  Parrot parrot("ABC", 5);
  GenerateRequest request;
  request.prompt = tokenizer.encode("A");
  request.max_tokens = 4;
  request.sampler.temperature = 0;
  std::string shown;
  generate(parrot, tokenizer, request, [&](const std::string& text) {
    shown += text;
    return true;
  });
  EXPECT_EQ(shown, "BCAB");
}

TEST(Generate, EndsWhereTheContextIsFull) {
  const ByteTokenizer tokenizer;
  const auto within = [&](int64_t context, int64_t max_tokens) {
    Parrot parrot("ABCDEFGHIJ");
    GenerateRequest request;
    request.before = {'A'};
    request.prompt = {'B'};
    request.context = context;
    request.max_tokens = max_tokens;
    request.sampler.temperature = 0;
    return generate(parrot, tokenizer, request, [](const std::string&) { return true; });
  };
  EXPECT_EQ(within(5, 50).tokens, (std::vector<int32_t>{'C', 'D', 'E'}));
  EXPECT_EQ(within(5, 50).finish, FinishReason::Context);
  EXPECT_EQ(within(5, 3).finish, FinishReason::Length);
  EXPECT_EQ(within(2, 3).tokens.size(), 0u);
  EXPECT_EQ(within(2, 3).finish, FinishReason::Context);
}

// Likes one token alone.
class Monotone : public Engine {
 public:
  Monotone(int vocabulary, int token) : logits_(static_cast<size_t>(vocabulary)) {
    logits_[static_cast<size_t>(token)] = 9;
  }
  int vocabulary() const override { return static_cast<int>(logits_.size()); }
  int64_t tokens() const override { return 0; }
  void reset() override {}
  std::span<const float> feed_all(std::span<const int32_t>) override { return logits_; }
  std::span<const float> feed(std::span<const int32_t>) override { return logits_; }

 private:
  std::vector<float> logits_;
};

TEST(Generate, ATextOfItsOwnBeginsWithoutTheTokenisersSpace) {
  constexpr int space_and_a = 261;
  const SentencePieceTokenizer tokenizer(model_file(byte_and_a_model()), "model");
  const auto text = [&](TextPosition position) {
    Monotone engine(tokenizer.vocab_size(), space_and_a);
    GenerateRequest request;
    request.prompt = {1};
    request.max_tokens = 2;
    request.position = position;
    request.sampler.temperature = 0;
    std::string shown;
    generate(engine, tokenizer, request, [&](const std::string& more) {
      shown += more;
      return true;
    });
    return shown;
  };
  EXPECT_EQ(text(TextPosition::Start), "a a");
  EXPECT_EQ(text(TextPosition::Inside), " a a");
}

TEST(Generate, AnEmptyPromptIsRefused) { EXPECT_THROW(say("ABC", 3, {}, ""), Error); }

std::map<int32_t, double> shares(const SamplerSettings& settings, const std::vector<float>& logits,
                                 const std::vector<int32_t>& history = {}) {
  Sampler sampler(settings);
  std::map<int32_t, double> counts;
  constexpr int draws = 20000;
  for (int i = 0; i < draws; i++) counts[sampler.pick(logits, history)] += 1.0 / draws;
  return counts;
}

const std::vector<float> four = {std::log(0.5F), std::log(0.3F), std::log(0.15F), std::log(0.05F)};

TEST(Sampler, DrawsInProportion) {
  const auto found = shares({.temperature = 1, .seed = 11}, four);
  EXPECT_NEAR(found.at(0), 0.5, 0.02);
  EXPECT_NEAR(found.at(1), 0.3, 0.02);
  EXPECT_NEAR(found.at(2), 0.15, 0.02);
  EXPECT_NEAR(found.at(3), 0.05, 0.01);
}

TEST(Sampler, CutsByRankByMassAndByShare) {
  EXPECT_EQ(shares({.temperature = 1, .top_k = 2, .seed = 1}, four).size(), 2u);
  EXPECT_EQ(shares({.temperature = 1, .top_p = 0.8, .seed = 1}, four).size(), 2u);  // 0.5 + 0.3 is enough
  EXPECT_EQ(shares({.temperature = 1, .top_p = 0.81, .seed = 1}, four).size(), 3u);
  EXPECT_EQ(shares({.temperature = 1, .min_p = 0.25, .seed = 1}, four).size(), 3u);  // 0.15 / 0.5 is above it
  EXPECT_EQ(shares({.temperature = 1, .top_p = 0, .seed = 1}, four).size(), 1u);
  const auto sharp = shares({.temperature = 0.5, .seed = 3}, four);  // squares: 0.25, 0.09, 0.0225, 0.0025
  EXPECT_NEAR(sharp.at(0), 0.25 / 0.365, 0.02);
}

TEST(Sampler, TemperatureZeroTakesTheLikeliestAndOfEqualOnesTheFirst) {
  Sampler sampler({.temperature = 0});
  EXPECT_EQ(sampler.pick(std::vector<float>{1, 3, 3, 2}, {}), 1);
  EXPECT_EQ(sampler.pick(std::vector<float>{NAN, -INFINITY, -5, INFINITY}, {}), 2);
  EXPECT_THROW(sampler.pick(std::vector<float>{NAN, NAN}, {}), Error);
}

TEST(Sampler, ThePenaltyFallsOnTokensMetBefore) {
  Sampler sampler({.temperature = 0, .repetition_penalty = 2});
  EXPECT_EQ(sampler.pick(std::vector<float>{3, 2, -1}, std::vector<int32_t>{0}), 1);
  EXPECT_EQ(sampler.pick(std::vector<float>{-3, -2, -5}, std::vector<int32_t>{1}), 0);
}

TEST(Sampler, SeedsDecide) {
  const auto sequence = [](uint64_t seed) {
    Sampler sampler({.temperature = 1, .seed = seed});
    std::vector<int32_t> tokens;
    for (int i = 0; i < 32; i++) tokens.push_back(sampler.pick(four, {}));
    return tokens;
  };
  EXPECT_EQ(sequence(5), sequence(5));
  EXPECT_NE(sequence(5), sequence(6));
}

TEST(Sampler, RefusesSettingsOutOfRange) {
  EXPECT_THROW(Sampler({.temperature = -1}), Error);
  EXPECT_THROW(Sampler({.temperature = NAN}), Error);
  EXPECT_THROW(Sampler({.top_p = 1.5}), Error);
  EXPECT_THROW(Sampler({.repetition_penalty = 0}), Error);
}

}  // namespace
}  // namespace onceover
