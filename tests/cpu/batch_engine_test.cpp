// What an engine keeps for its sequences: going back, forks, bytes, the budget, rows computed.
#include "cpu/batch_engine.h"

#include "base/error.h"
#include "cpu/batch_support.h"
#include "support/errors.h"

namespace onceover::cpu {
namespace {

using test::FreshRandom;

// Drafts of up to 8 tokens that are taken back, with a window of 16 and without; then far back.
TEST(BatchEngine, GoingBackAndOnEqualsAFreshSequence) {
  FreshRandom random;
  for (const char* architecture : {"transformer", "yoco-u"}) {
    SCOPED_TRACE(architecture);
    Config config = test::tiny_config(architecture);
    if (config.sliding_window) config.sliding_window = 16;
    const Subject subject(test::tiny_model("drafted", config), random.seed());
    BatchEngine engine = subject.engine({.spare_rows = 8});
    const auto tokens = random.tokens(200, subject.vocabulary());
    const ExpectedLogits expected(subject, tokens);
    const SequenceId id = engine.open();
    for (int64_t at = 0; at < 200;) {
      feed(engine, id, random.tokens(random.between(1, 8), subject.vocabulary()), 0);
      engine.truncate(id, at);
      ASSERT_EQ(engine.tokens(id), at);
      const int64_t count = std::min<int64_t>(random.between(1, 4), 200 - at);
      const auto logits = feed(engine, id, std::span(tokens).subspan(at, count));
      at += count;
      expected.expect_near(logits, at - 1);
    }
  }
}

TEST(BatchEngine, RefusesToGoBackWhereTheStateIsNotHeldAndStaysAsItIs) {
  FreshRandom random;
  const Subject windowed(test::tiny_model("windowed", test::tiny_config("yoco-u")), random.seed());
  BatchEngine engine = windowed.engine();
  const auto tokens = random.tokens(300, windowed.vocabulary());
  const SequenceId id = engine.open();
  feed(engine, id, tokens);
  const std::string message = error_of([&] { engine.truncate(id, 100); });
  EXPECT_TRUE(contains(message, "window") && contains(message, "model.layers.")) << message;
  EXPECT_TRUE(contains(error_of([&] { engine.truncate(id, 301); }), "301"));
  EXPECT_THROW(engine.truncate(id, -1), Error);
  EXPECT_EQ(engine.tokens(id), 300);
  engine.truncate(id, 0);
  EXPECT_EQ(engine.kv_bytes(id), 0);
  ExpectedLogits(windowed, std::span(tokens).first(9))
      .expect_near(feed(engine, id, std::span(tokens).first(9)), 8);

  Config config = test::tiny_config("yoco");
  config.self_mixer = Mixer::Retention;
  config.num_retention_heads = 2;
  const Subject retained(test::tiny_model("retained", config), random.seed());
  BatchEngine other = retained.engine();
  const SequenceId sums = other.open();
  feed(other, sums, random.tokens(10, retained.vocabulary()));
  EXPECT_TRUE(contains(error_of([&] { other.truncate(sums, 9); }), "retention"));
  other.truncate(sums, 10);
  other.truncate(sums, 0);
  const auto again = random.tokens(9, retained.vocabulary());
  ExpectedLogits(retained, again).expect_near(feed(other, sums, again), 8);
}

TEST(BatchEngine, ForksShareTheirBeginningAndGoTheirOwnWay) {
  FreshRandom random;
  for (const auto& model : unbounded_models()) {
    SCOPED_TRACE(model.name);
    const Subject subject(model, random.seed());
    BatchEngine engine = subject.engine();
    auto first = random.tokens(100, subject.vocabulary()), second = first;
    first.push_back(1);
    first.push_back(3);
    second.push_back(2);
    second.push_back(3);
    const SequenceId a = engine.open();
    feed(engine, a, std::span(first).first(100), 0);
    const int64_t before = engine.kv_bytes();
    const SequenceId b = engine.fork(a);
    // Nothing but the matrices is copied.
    int64_t matrices = 0;
    for (const Slot& slot : engine.analysis(a).slots)
      matrices += slot.keep.kind == Retention::Kind::Matrix ? 4 * slot.width : 0;
    EXPECT_EQ(engine.kv_bytes(), before + matrices);
    feed(engine, a, std::span(first).subspan(100, 1));
    ExpectedLogits(subject, second).expect_near(feed(engine, b, std::span(second).subspan(100)), 101);
    const auto expected = ExpectedLogits(subject, first);
    engine.close(b);
    expected.expect_near(feed(engine, a, std::span(first).subspan(101)), 101);
  }
}

// Pages of 64 rows: what is resident is the analysis's formula with rows rounded up to whole pages; a window
// holds the pages that overlap the rows which the next token sees besides itself.
TEST(BatchEngine, ResidentBytesAreTheFormulaInWholePagesAtEveryLength) {
  FreshRandom random;
  for (const auto& [type, number_bytes, scale_bytes] :
       {std::tuple{KvType::F32, 4, 0}, std::tuple{KvType::F16, 2, 0}, std::tuple{KvType::Q8, 1, 4}}) {
    for (const auto& model : unbounded_models()) {
      const Subject subject(model, random.seed());
      BatchEngine engine = subject.engine({.chunk_tokens = 64, .kv = type});
      const SequenceId id = engine.open();
      const auto heads = model.config.num_key_value_heads;
      for (const int64_t count : {1, 4, 1, 57, 1, 1, 64, 100}) {
        feed(engine, id, random.tokens(count, subject.vocabulary()), 0);
        const int64_t tokens = engine.tokens(id);
        const auto found = engine.slot_bytes(id);
        ASSERT_EQ(found.size(), engine.analysis(id).slots.size());
        for (size_t i = 0; i < found.size(); i++) {
          const Slot& slot = engine.analysis(id).slots[i];
          const int64_t row_bytes = slot.width * number_bytes + heads * scale_bytes;
          int64_t expected = 4 * slot.width;
          if (slot.keep.kind == Retention::Kind::Every) expected = (tokens + 63) / 64 * 64 * row_bytes;
          if (slot.keep.kind == Retention::Kind::Window) {
            const int64_t first = std::max<int64_t>(0, tokens - slot.keep.window + 1) / 64;
            expected = ((tokens + 63) / 64 - first) * 64 * row_bytes;
            ASSERT_LE(expected, (slot.keep.rows(tokens) + 2 * 63) * row_bytes);
          }
          ASSERT_EQ(found[i], expected) << model.name << " slot " << i << " at " << tokens;
        }
        ASSERT_EQ(engine.kv_bytes(), engine.kv_bytes(id));
      }
      engine.close(id);
      ASSERT_EQ(engine.kv_bytes(), 0);
    }
  }
}

// Two configs, one whose layers share their keys and values: the bytes halve.
TEST(BatchEngine, SharedLayersOwnNoCache) {
  FreshRandom random;
  Config config = test::tiny_config("yoco");
  config.num_hidden_layers = 8;
  config.sliding_window.reset();
  config.num_self_layers = 4;
  const Subject shared(test::tiny_model("shared", config), random.seed());
  BatchEngine engine = shared.engine();
  const SequenceId id = engine.open();
  feed(engine, id, random.tokens(64, shared.vocabulary()));
  for (const Slot& slot : engine.analysis(id).slots)
    EXPECT_LE(layer_of(engine.plan(id).scopes[engine.plan(id).steps[slot.value].scope]), 4);
  EXPECT_EQ(engine.kv_bytes(id), engine.analysis(id).state_elements(64) * 4);
}

bool keeps_every_row(const Analysis& analysis) {
  return std::ranges::any_of(analysis.slots,
                             [](const Slot& s) { return s.keep.kind == Retention::Kind::Every; });
}

TEST(BatchEngine, StaysWithinItsBudgetAndUnchangedWhenACallWouldNot) {
  FreshRandom random;
  for (const auto& model : unbounded_models()) {
    SCOPED_TRACE(model.name);
    const Subject subject(model, random.seed());
    if (!keeps_every_row(analyse(model.plan))) continue;
    const auto tokens = random.tokens(3000, subject.vocabulary());
    BatchEngine unbounded = subject.engine();
    const SequenceId measured = unbounded.open();
    feed(unbounded, measured, std::span(tokens).first(200));
    const int64_t budget = 3 * unbounded.kv_bytes();
    BatchEngine engine = subject.engine({.chunk_tokens = 64, .max_kv_bytes = budget});
    const SequenceId a = engine.open(), b = engine.open();
    feed(engine, a, std::span(tokens).first(130), 0);
    const int64_t before = engine.kv_bytes();
    const BatchEngine::Part parts[] = {{a, std::span(tokens).subspan(130), 1}, {b, tokens, 1}};
    const std::string message = error_of([&] { engine.run(parts); });
    EXPECT_TRUE(contains(message, std::to_string(budget))) << message;
    EXPECT_EQ(engine.kv_bytes(), before);
    EXPECT_EQ(engine.tokens(a), 130);
    EXPECT_EQ(engine.tokens(b), 0);
    ExpectedLogits(subject, std::span(tokens).first(131))
        .expect_near(feed(engine, a, std::span(tokens).subspan(130, 1)), 130);
    EXPECT_LE(engine.kv_held_bytes(), budget);
  }
}

TEST(BatchEngine, GivesPagesOfOneSizeUpForAnother) {
  FreshRandom random;
  const Subject subject(test::tiny_model("plain", test::tiny_config("transformer")), random.seed());
  BatchEngine engine = subject.engine();
  const SequenceId id = engine.open();
  feed(engine, id, random.tokens(200, subject.vocabulary()));
  const int64_t held = engine.kv_held_bytes();
  EXPECT_EQ(held, engine.kv_bytes());
  engine.close(id);
  EXPECT_EQ(engine.kv_bytes(), 0);
  EXPECT_EQ(engine.kv_held_bytes(), held);
  const SequenceId next = engine.open();
  feed(engine, next, random.tokens(200, subject.vocabulary()));
  EXPECT_EQ(engine.kv_held_bytes(), held);
}

// Layers x rows: an exact count, the same whatever the chunks, that grows with the prompt without a jump.
TEST(BatchEngine, CountsTheRowsOfLayersThatAPromptComputes) {
  FreshRandom random;
  const Config config = test::tiny_config("yoco");
  const Subject subject(test::tiny_model("shared", config), random.seed());
  const int64_t self = config.num_hidden_layers / 2, cross = config.num_hidden_layers - self;
  for (const int64_t chunk : {1, 64, 1000}) {
    BatchEngine engine = subject.engine({.chunk_tokens = chunk});
    for (const int64_t length : {1, 63, 64, 65, 128, 200}) {
      const SequenceId id = engine.open();
      const int64_t before = engine.layer_rows();
      feed(engine, id, random.tokens(length, subject.vocabulary()));
      EXPECT_EQ(engine.layer_rows() - before, self * length + cross)
          << "chunk " << chunk << " length " << length;
    }
  }
}

TEST(BatchEngine, RefusesCallsThatMakeNoSense) {
  FreshRandom random;
  const Subject subject(test::tiny_model("small", test::tiny_config("yoco")), random.seed());
  BatchEngine engine = subject.engine();
  const SequenceId id = engine.open();
  const std::vector<int> tokens = {1, 2}, outside = {1, subject.vocabulary()}, none;
  EXPECT_THROW(feed(engine, id, none), Error);
  EXPECT_THROW(feed(engine, id, outside), Error);
  EXPECT_THROW(feed(engine, id, tokens, 3), Error);
  EXPECT_THROW(feed(engine, id, tokens, -1), Error);
  EXPECT_THROW(feed(engine, id + 1, tokens), Error);
  EXPECT_THROW(engine.close(id + 1), Error);
  const BatchEngine::Part twice[] = {{id, tokens, 1}, {id, tokens, 1}};
  EXPECT_TRUE(contains(error_of([&] { engine.run(twice); }), "twice"));
  EXPECT_EQ(engine.tokens(id), 0);
  EXPECT_TRUE(engine.run({}).empty());
  EXPECT_THROW(subject.engine({.chunk_tokens = 0}), Error);
}

}  // namespace
}  // namespace onceover::cpu
