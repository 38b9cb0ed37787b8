// Many sequences, and limits that are reached among them.
#include "base/error.h"
#include "cpu/batch_support.h"
#include "support/errors.h"
#include "support/temporary_folder.h"

namespace onceover::cpu {
namespace {

using test::FreshRandom;

TEST(Crowd, AThousandSequencesInOneCallAreEachTheirOwn) {
  FreshRandom random;
  const Subject subject(test::tiny_model("model", test::tiny_config("yoco-u")), random.seed());
  BatchEngine engine = subject.engine();
  std::vector<std::vector<int>> texts;
  std::vector<BatchEngine::Part> parts;
  for (int i = 0; i < 1000; i++) texts.push_back(random.tokens(random.between(1, 20), subject.vocabulary()));
  for (const auto& text : texts) parts.push_back({engine.open(), text, 1});
  const auto logits = engine.run(parts);
  for (size_t i = 0; i < texts.size(); i += 37) {
    ExpectedLogits(subject, texts[i])
        .expect_near(logits.subspan(i * engine.vocabulary(), engine.vocabulary()), std::ssize(texts[i]) - 1);
  }
  for (const auto& part : parts) engine.close(part.sequence);
  EXPECT_EQ(engine.kv_bytes(), 0);
}

// Forks of forks that share one half-filled page: to go on, all but one must copy it.
TEST(Crowd, ForksOfForksBeyondTheBudgetLoseNothingAndGoOnWithFewer) {
  FreshRandom random;
  const Subject subject(test::tiny_model("model", test::tiny_config("transformer")), random.seed());
  auto tokens = random.tokens(100, subject.vocabulary());
  BatchEngine measured = subject.engine();
  feed(measured, measured.open(), tokens);
  const int64_t one_page_of_each_slot = measured.kv_bytes() / 2;
  BatchEngine engine = subject.engine({.max_kv_bytes = measured.kv_bytes() + 3 * one_page_of_each_slot});
  std::vector<SequenceId> forks = {engine.open()};
  feed(engine, forks[0], tokens);
  while (forks.size() < 8) forks.push_back(engine.fork(forks.back()));
  const int64_t before = engine.kv_bytes();
  const std::vector<int> next = {3};
  std::vector<BatchEngine::Part> parts;
  for (const SequenceId id : forks) parts.push_back({id, next, 1});
  EXPECT_TRUE(contains(error_of([&] { engine.run(parts); }), "limit"));
  EXPECT_EQ(engine.kv_bytes(), before);
  for (const SequenceId id : forks) EXPECT_EQ(engine.tokens(id), 100);
  // As many as there is room for.
  parts.resize(3);
  tokens.push_back(3);
  const ExpectedLogits expected(subject, tokens);
  auto logits = engine.run(parts);
  for (; !logits.empty(); logits = logits.subspan(engine.vocabulary()))
    expected.expect_near(logits.first(engine.vocabulary()), 100);
  EXPECT_THROW(feed(engine, forks.back(), next), Error);
  for (size_t i = 0; i < 3; i++) engine.close(forks[i]);
  expected.expect_near(feed(engine, forks.back(), next), 100);
}

TEST(Crowd, ABudgetOfNothingOrOfLessThanAPageRefusesTokens) {
  FreshRandom random;
  const Subject subject(test::tiny_model("model", test::tiny_config("yoco-u")), random.seed());
  for (const int64_t budget : {0, 1, 100}) {
    BatchEngine engine = subject.engine({.max_kv_bytes = budget});
    const SequenceId id = engine.open();
    EXPECT_TRUE(contains(error_of([&] { feed(engine, id, std::vector<int>{1}); }), "limit"));
    EXPECT_THROW(engine.pretend(id, 1), Error);
    EXPECT_EQ(engine.tokens(id), 0);
    EXPECT_EQ(engine.kv_held_bytes(), 0);
  }
}

TEST(Crowd, OptionsOutOfRangeAreRefused) {
  FreshRandom random;
  const Subject subject(test::tiny_model("model", test::tiny_config("yoco-u")), random.seed());
  EXPECT_TRUE(contains(error_of([&] { subject.engine({.max_kv_bytes = -1}); }), "max_kv_bytes"));
  EXPECT_TRUE(contains(error_of([&] { subject.engine({.spare_rows = -1}); }), "spare_rows"));
  EXPECT_TRUE(contains(error_of([&] { subject.engine({.spare_rows = INT64_MAX}); }), "spare_rows"));
  EXPECT_TRUE(contains(error_of([&] { subject.engine({.chunk_tokens = INT64_MAX}); }), "chunk_tokens"));
  BatchEngine engine = subject.engine();
  EXPECT_EQ(engine.loops(engine.open(0)), subject.model().config.num_loops);
  for (const int loops : {-1, INT32_MIN, 1025, INT32_MAX})
    EXPECT_TRUE(contains(error_of([&] { engine.open(loops); }), "loops")) << loops;
}

// A state is for its own plan and its own depth: other windows have the same weights.
TEST(Crowd, AStateOfAModelWithAnotherWindowIsRefused) {
  FreshRandom random;
  Config config = test::tiny_config("yoco-u");
  const Subject subject(test::tiny_model("model", config), random.seed());
  *config.sliding_window += 1;
  const Subject wider(test::tiny_model("wider", config), random.seed());
  const TemporaryFolder folder;
  BatchEngine engine = subject.engine(), other = wider.engine();
  const SequenceId id = engine.open();
  feed(engine, id, random.tokens(9, subject.vocabulary()));
  engine.save(id, folder / "state");
  EXPECT_TRUE(contains(error_of([&] { other.restore(folder / "state"); }), "another model"));
  EXPECT_EQ(other.kv_bytes(), 0);
}

}  // namespace
}  // namespace onceover::cpu
