// Batches against the oracle: every architecture, every type of keys and values, several sizes of chunk.
#include <omp.h>

#include <cmath>

#include "cpu/batch_support.h"

namespace onceover::cpu {
namespace {

using test::FreshRandom;

class BatchParity : public testing::TestWithParam<test::Model> {};

// A sequence of the test: what it is fed, and how far it is.
struct Feeding {
  SequenceId id;
  std::vector<int> tokens;
  ExpectedLogits expected;
  int64_t fed = 0;
};

// Feeds every sequence some tokens at once, with the logits of some of the last.
void feed_some(BatchEngine& engine, std::vector<Feeding>& all, FreshRandom& random,
               const Tolerance& tolerance) {
  std::vector<BatchEngine::Part> parts;
  std::vector<Feeding*> fed;
  for (Feeding& f : all) {
    const int64_t left = std::ssize(f.tokens) - f.fed;
    if (left == 0) continue;
    const int64_t count = random.between(0, 2) == 0 ? random.between(1, left) : 1;
    parts.push_back({f.id, std::span(f.tokens).subspan(f.fed, count), random.between(0, count)});
    fed.push_back(&f);
  }
  auto logits = engine.run(parts);
  for (size_t i = 0; i < parts.size(); i++) {
    fed[i]->fed += std::ssize(parts[i].tokens);
    ASSERT_EQ(engine.tokens(fed[i]->id), fed[i]->fed);
    for (int64_t row = fed[i]->fed - parts[i].logit_rows; row < fed[i]->fed; row++) {
      fed[i]->expected.expect_near(logits.first(engine.vocabulary()), row, tolerance);
      logits = logits.subspan(engine.vocabulary());
    }
  }
  ASSERT_TRUE(logits.empty());
}

TEST_P(BatchParity, SequencesAtDifferentPositionsEqualTheOracle) {
  FreshRandom random;
  const Subject subject(GetParam(), random.seed());
  for (const KvTolerance& kv : kv_tolerances) {
    if (kv.type != KvType::F32 && is_routed(subject.model().plan)) continue;
    for (const int64_t chunk : {1, 5, 64}) {
      SCOPED_TRACE(testing::Message() << kv.name << ", chunks of " << chunk);
      BatchEngine engine = subject.engine({.chunk_tokens = chunk, .kv = kv.type});
      std::vector<Feeding> all;
      for (int i = 0; i < 4; i++) {
        const auto tokens = random.tokens(random.between(1, 40), subject.vocabulary());
        all.push_back({engine.open(), tokens, ExpectedLogits(subject, tokens)});
      }
      while (std::ranges::any_of(all, [](const Feeding& f) { return f.fed < std::ssize(f.tokens); })) {
        feed_some(engine, all, random, kv.logits);
        if (HasFatalFailure()) return;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Every, BatchParity, testing::ValuesIn(test::tiny_models()),
                         [](const auto& each) { return each.param.name; });

TEST(Batch, SequencesOfDifferentDepthsShareACall) {
  FreshRandom random;
  for (const char* architecture : {"yoco-u", "universal", "rins"}) {
    SCOPED_TRACE(architecture);
    const Subject subject(test::tiny_model("looped", test::tiny_config(architecture)), random.seed());
    BatchEngine engine = subject.engine();
    const auto tokens = random.tokens(20, subject.vocabulary());
    std::vector<BatchEngine::Part> parts;
    const std::vector<int> depths = {2, 0, 1, 4, 2};
    for (const int loops : depths) parts.push_back({engine.open(loops), tokens, 20});
    auto logits = engine.run(parts);
    for (const int loops : depths) {
      const ExpectedLogits expected(subject, tokens, loops);
      for (int64_t row = 0; row < 20; row++, logits = logits.subspan(engine.vocabulary()))
        expected.expect_near(logits.first(engine.vocabulary()), row);
    }
  }
}

// The number that ran, not the number that was asked for.
TEST(Batch, SaysTheLoopsOfEverySequence) {
  FreshRandom random;
  Config config = test::tiny_config("yoco-u");
  config.num_loops = 4;
  const Subject subject(test::tiny_model("looped", config), random.seed());
  BatchEngine engine = subject.engine();
  EXPECT_EQ(engine.loops(engine.open()), 4);
  EXPECT_EQ(engine.loops(engine.open(2)), 2);
  const SequenceId deep = engine.open(6);
  EXPECT_EQ(engine.loops(deep), 6);
  EXPECT_EQ(engine.loops(engine.fork(deep)), 6);
  const Subject plain(test::tiny_model("plain", test::tiny_config("transformer")), random.seed());
  BatchEngine other = plain.engine();
  EXPECT_EQ(other.loops(other.open()), 1);
}

// A window of 8 at every length around it: cached decoding against a fresh prompt, log-probabilities.
TEST(Batch, DecodingEqualsAFreshPromptAtEveryLengthAroundTheWindow) {
  FreshRandom random;
  Config config = test::tiny_config("yoco-u");
  config.sliding_window = 8;
  const Subject subject(test::tiny_model("windowed", config), random.seed());
  BatchEngine engine = subject.engine();
  const auto tokens = random.tokens(40, subject.vocabulary());
  const SequenceId decoded = engine.open();
  const auto log_probabilities = [](std::vector<float> logits) {
    double sum = 0;
    for (const float x : logits) sum += std::exp(static_cast<double>(x));
    for (float& x : logits) x -= static_cast<float>(std::log(sum));
    return logits;
  };
  for (int64_t length = 1; length <= 40; length++) {
    const auto next = log_probabilities(feed(engine, decoded, std::span(tokens).subspan(length - 1, 1)));
    const SequenceId fresh = engine.open();
    const auto whole = log_probabilities(feed(engine, fresh, std::span(tokens).first(length)));
    engine.close(fresh);
    for (size_t i = 0; i < next.size(); i++) ASSERT_NEAR(next[i], whole[i], 1e-5) << "length " << length;
  }
}

// The bits of a sequence's logits: alone with one thread, and among others in any place with two. Decoding
// and prompts, whatever the others do.
TEST(Batch, LogitsDoNotDependOnBatchMatesSlotsOrThreads) {
  FreshRandom random;
  const int usual = omp_get_max_threads();
  for (const auto& model : unbounded_models()) {
    SCOPED_TRACE(model.name);
    const Subject subject(model, random.seed());
    BatchEngine engine = subject.engine({.chunk_tokens = 100, .kv = KvType::F16});
    const auto some_tokens = [&](int64_t most) {
      return random.tokens(random.between(1, most), subject.vocabulary());
    };
    const SequenceId alone = engine.open();
    feed(engine, alone, some_tokens(90));
    std::vector<SequenceId> mates;
    for (int i = 0; i < 8; i++) mates.push_back(engine.open());
    for (int round = 0; round < 6; round++) {
      const SequenceId among = engine.fork(alone);
      const auto next = some_tokens(round % 2 == 0 ? 2 : 150);
      std::vector<std::vector<int>> others;
      for (size_t i = 0; i < mates.size(); i++) others.push_back(some_tokens(i == 0 ? 60 : 3));
      std::vector<BatchEngine::Part> parts;
      for (size_t i = 0; i < mates.size(); i++) parts.push_back({mates[i], others[i], 1});
      const auto place = static_cast<size_t>(random.between(0, std::ssize(mates)));
      parts.insert(parts.begin() + static_cast<int64_t>(place), {among, next, 1});
      omp_set_num_threads(1);
      const auto expected = feed(engine, alone, next);
      omp_set_num_threads(2);
      const auto found = engine.run(parts).subspan(place * engine.vocabulary(), engine.vocabulary());
      ASSERT_TRUE(std::ranges::equal(found, expected)) << next.size() << " tokens";
      engine.close(among);
    }
  }
  omp_set_num_threads(usual);
}

}  // namespace
}  // namespace onceover::cpu
