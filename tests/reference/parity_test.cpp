// What must hold for every model there is: pieces of a sequence give what the whole gives. New architectures
// are found through the registry.
#include <gtest/gtest.h>

#include <map>

#include "middle_cycle.h"
#include "support/models.h"
#include "support/oracle.h"
#include "support/random.h"
#include "support/unroll.h"

namespace onceover::test {
namespace {

using reference::RowsOf;
using reference::Weights;

class Parity : public testing::TestWithParam<Model> {
 protected:
  const Plan& plan() const { return GetParam().plan; }
  std::vector<int> tokens(int64_t count) { return random.tokens(count, GetParam().config.vocab_size); }

  // Feeds `tokens` in the given parts, asking for the last row of each, and expects the logits of `whole`.
  void expect_parts_equal(const RowsOf& whole, std::span<const int> text, const std::vector<int64_t>& parts) {
    Sequence sequence(plan(), weights);
    int64_t done = 0;
    for (const int64_t part : parts) {
      const RowsOf logits = sequence.feed(text.subspan(done, part));
      done += part;
      ASSERT_EQ(logits.size(), 1U);
      ASSERT_EQ(logits.at(done - 1), whole.at(done - 1)) << "after " << done << " tokens";
    }
  }

  FreshRandom random;
  Weights weights = random_weights(plan(), random.seed());
};

TEST_P(Parity, PrefillWithEarlyExitThenDecodingEqualsOneFullPassBitForBit) {
  const std::vector<int> text = tokens(24);
  const RowsOf whole = all_logits(plan(), weights, text);
  const int64_t prompt = random.between(1, 20);
  std::vector<int64_t> parts(24 - prompt + 1, 1);
  parts[0] = prompt;
  expect_parts_equal(whole, text, parts);
}

TEST_P(Parity, ChunkedPrefillEqualsOneFullPassForAnyChunks) {
  const int64_t w = tiny_window, length = 6 * w + 3;
  const std::vector<int> text = tokens(length);
  const RowsOf whole = all_logits(plan(), weights, text);
  for (const int64_t chunk : {int64_t{1}, w - 1, w, w + 1, 2 * w + 1, length}) {
    SCOPED_TRACE(chunk);
    std::vector<int64_t> parts(length / chunk, chunk);
    if (length % chunk != 0) parts.push_back(length % chunk);
    expect_parts_equal(whole, text, parts);
  }
  for (int i = 0; i < 3; i++) expect_parts_equal(whole, text, random.split(length));
}

TEST_P(Parity, PartsWithoutLogitsLeaveTheSameState) {
  const std::vector<int> text = tokens(17);
  Sequence asked(plan(), weights), silent(plan(), weights);
  asked.feed(std::span(text).first(9));
  silent.feed_silently(std::span(text).first(9));
  EXPECT_EQ(asked.state().slots, silent.state().slots);
  EXPECT_EQ(asked.feed(std::span(text).subspan(9)), silent.feed(std::span(text).subspan(9)));
}

TEST_P(Parity, ARunOfAllLogitsEqualsARunOfTheAskedOnes) {
  const std::vector<int> text = tokens(13);
  Sequence sequence(plan(), weights);
  EXPECT_EQ(sequence.feed(text).at(12), all_logits(plan(), weights, text).at(12));
}

TEST_P(Parity, LaterTokensNeverChangeEarlierLogits) {
  std::vector<int> text = tokens(12);
  const RowsOf before = all_logits(plan(), weights, text);
  const int64_t changed = random.between(1, 11);
  text[changed] = (text[changed] + 1) % GetParam().config.vocab_size;
  const RowsOf after = all_logits(plan(), weights, text);
  for (int64_t row = 0; row < changed; row++) EXPECT_EQ(before.at(row), after.at(row)) << "row " << row;
  EXPECT_NE(before.at(changed), after.at(changed));
}

TEST_P(Parity, AnUnrolledModelWithCopiedWeightsIsTheLoopedModel) {
  const std::vector<int> text = tokens(11);
  const Unrolled unrolled = unroll(plan());
  Weights copies;
  for (const WeightId original : unrolled.original) copies.push_back(weights[original]);
  EXPECT_EQ(all_logits(unrolled.plan, copies, text), all_logits(plan(), weights, text));
}

// The analysis as an engine would have it whose caches belong to layers' names: every iteration of a loop is
// given the caches of the first. They keep all rows, so that nothing but the sharing is wrong.
Analysis one_cache_a_layer_name(const Plan& plan) {
  Analysis analysis = analyse(plan);
  std::map<ScopeId, std::vector<ValueId>> of_first_loop;
  std::map<std::pair<ScopeId, int>, size_t> seen;
  for (Slot& slot : analysis.slots) {
    const Step& step = plan.steps[slot.value];
    if (slot.keep.kind == Retention::Kind::Window) slot.keep = {};
    std::vector<ValueId>& first = of_first_loop[step.scope];
    const size_t position = seen[{step.scope, step.loop}]++;
    if (position == first.size()) first.push_back(slot.value);
    analysis.slot_of[slot.value] = analysis.slot_of[first[position]];
  }
  return analysis;
}

TEST_P(Parity, OneCacheALayerNameBreaksLoopedModelsOnly) {
  const Analysis right_slots = analyse(plan()), wrong_slots = one_cache_a_layer_name(plan());
  const std::vector<int> text = tokens(20);
  Sequence right(plan(), right_slots, weights), wrong(plan(), wrong_slots, weights);
  right.feed(std::span(text).first(12));
  wrong.feed(std::span(text).first(12));
  const double difference = largest_difference(right.feed(std::span(text).subspan(12, 1)),
                                               wrong.feed(std::span(text).subspan(12, 1)));
  if (right_slots.slot_of == wrong_slots.slot_of)
    EXPECT_EQ(difference, 0);
  else
    EXPECT_GT(difference, 1e-6);
}

std::vector<Model> models_and_middle_cycle() {
  std::vector<Model> models = tiny_models();
  models.push_back(middle_cycle_model());
  return models;
}

INSTANTIATE_TEST_SUITE_P(, Parity, testing::ValuesIn(models_and_middle_cycle()),
                         [](const auto& model) { return model.param.name; });

}  // namespace
}  // namespace onceover::test
