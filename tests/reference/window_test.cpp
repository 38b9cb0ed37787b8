// Windows at their edges: who is seen, what a ring must keep, how far a looped window reaches.
#include <gtest/gtest.h>

#include <algorithm>

#include "architectures/registry.h"
#include "support/models.h"
#include "support/oracle.h"
#include "support/random.h"

namespace onceover::test {
namespace {

using reference::RowsOf;
using reference::Weights;

// Attention whose scores are all equal: row i is the mean of the values it sees.
RowsOf means_of(const std::vector<double>& values, int window) {
  Builder b;
  const Init init = Init::constant(0);
  const ValueId x = b.embed("table", static_cast<int64_t>(values.size()), 1, init);
  const ValueId zero = b.linear(x, "zero", {1, "", "", init});
  b.logits(b.attend(zero, {zero, x}, 1, 1, Mask{window}), "model.head.weight", 1, init);
  const Plan plan = b.finish();
  const Weights weights = {values, {0}, {1}};
  std::vector<int> tokens(values.size());
  for (size_t i = 0; i < tokens.size(); i++) tokens[i] = static_cast<int>(i);
  return all_logits(plan, weights, tokens);
}

TEST(Window, ARowSeesExactlyTheWindowItselfIncluded) {
  const RowsOf rows = means_of({1, 2, 4, 8, 16}, 3);
  const double expected[] = {1, 1.5, 7.0 / 3, 14.0 / 3, 28.0 / 3};
  for (int64_t row = 0; row < 5; row++) EXPECT_NEAR(rows.at(row)[0], expected[row], 1e-12) << "row " << row;
}

TEST(Window, OfOneSeesOnlyTheRowItself) {
  const RowsOf rows = means_of({1, 2, 4, 8}, 1);
  for (int64_t row = 0; row < 4; row++) EXPECT_EQ(rows.at(row)[0], std::vector<double>({1, 2, 4, 8})[row]);
}

TEST(Window, OfZeroSeesEveryEarlierRow) {
  const RowsOf rows = means_of({1, 2, 4, 8}, 0);
  EXPECT_NEAR(rows.at(3)[0], 15.0 / 4, 1e-12);
}

// Continuing after L tokens must equal starting afresh on L, at every L around the window and its multiples.
class WindowEdges : public testing::TestWithParam<Architecture> {};

TEST_P(WindowEdges, DecodingEqualsAFreshPrefillAtEveryLength) {
  FreshRandom random;
  Config config = tiny_config(GetParam().name);
  config.sliding_window = 8;
  const Plan plan = tiny_model(GetParam().name, config).plan;
  const Weights weights = random_weights(plan, random.seed());
  const std::vector<int> text = random.tokens(40, config.vocab_size);
  Sequence decoded(plan, weights);
  for (int64_t length = 1; length <= 40; length++) {
    const RowsOf next = decoded.feed(std::span(text).subspan(length - 1, 1));
    Sequence fresh(plan, weights);
    ASSERT_EQ(next, fresh.feed(std::span(text).first(length))) << "length " << length;
  }
}

std::vector<Architecture> windowed_architectures() {
  std::vector<Architecture> windowed = all_architectures();
  std::erase_if(windowed, [](const Architecture& architecture) {
    const auto& keys = architecture.keys;
    return std::find(keys.begin(), keys.end(), "sliding_window") == keys.end();
  });
  return windowed;
}

INSTANTIATE_TEST_SUITE_P(, WindowEdges, testing::ValuesIn(windowed_architectures()),
                         [](const auto& architecture) { return test_name(architecture.param.name); });

// The key of the global cache: the slot that keeps every row.
ValueId global_key(const Plan& plan) {
  for (const Slot& slot : analyse(plan).slots)
    if (slot.keep.kind == Retention::Kind::Every) return slot.value;
  return -1;
}

TEST(Window, TheGlobalCacheOfYocoUReadsLoopsTimesLayersTimesWindowBack) {
  FreshRandom random;
  Config config = tiny_config("yoco-u");
  config.num_loops = 2;
  config.sliding_window = 3;
  const Plan plan = tiny_model("yoco_u", config).plan;
  const Weights weights = random_weights(plan, random.seed());
  const int64_t reach = 2 * 2 * (3 - 1);  // loops * self layers * (window - 1)
  const int64_t row = reach + 3;
  std::vector<int> text = random.tokens(row + 1, config.vocab_size);
  const ValueId key = global_key(plan);
  const reference::Vector before = rows_of_value(plan, weights, text, key).at(row);
  const auto key_when_changed = [&](int64_t token) {
    std::vector<int> other = text;
    other[token] = (other[token] + 1) % config.vocab_size;
    return rows_of_value(plan, weights, other, key).at(row);
  };
  EXPECT_NE(before, key_when_changed(row - reach));
  EXPECT_EQ(before, key_when_changed(row - reach - 1));
}

}  // namespace
}  // namespace onceover::test
