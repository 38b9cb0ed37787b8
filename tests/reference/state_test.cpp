// What a sequence holds between calls, against the closed forms.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/models.h"
#include "support/oracle.h"
#include "support/random.h"

namespace onceover::test {
namespace {

using reference::Weights;

class StateOf : public testing::TestWithParam<Model> {};

TEST_P(StateOf, AModelHoldsWhatTheAnalysisSaysAtEveryLength) {
  FreshRandom random;
  const Plan& plan = GetParam().plan;
  const Weights weights = random_weights(plan, random.seed());
  Sequence sequence(plan, weights);
  for (const int64_t part : random.split(3 * tiny_window + 2)) {
    sequence.feed(random.tokens(part, GetParam().config.vocab_size));
    const auto& state = sequence.state();
    EXPECT_EQ(state.elements(), sequence.analysis().state_elements(state.tokens))
        << state.tokens << " tokens";
  }
}

INSTANTIATE_TEST_SUITE_P(, StateOf, testing::ValuesIn(tiny_models()),
                         [](const auto& model) { return model.param.name; });

// Elements of keys and values that `name` holds after each of 20 tokens, divided by those of one row.
std::vector<int64_t> cached_rows(const Config& config) {
  FreshRandom random;
  const Plan plan = tiny_model("cached", config).plan;
  const Weights weights = random_weights(plan, random.seed());
  Sequence sequence(plan, weights);
  std::vector<int64_t> rows;
  for (const int token : random.tokens(20, config.vocab_size)) {
    sequence.feed(std::span(&token, 1));
    rows.push_back(sequence.state().elements() / (2 * config.num_key_value_heads * config.head_dim));
  }
  return rows;
}

template <class Rows>
void expect_cached_rows(const Config& config, Rows expected) {
  const std::vector<int64_t> rows = cached_rows(config);
  for (int64_t n = 1; n <= 20; n++) {
    const int64_t ring = std::min<int64_t>(n, config.sliding_window.value_or(0));
    EXPECT_EQ(rows[n - 1], expected(n, ring)) << config.architecture << ", " << n << " tokens";
  }
}

// arXiv 2604.01220 Table 10: with 4 layers, so 2 self layers.
TEST(State, HoldsTheRowsOfTheClosedForms) {
  const auto config = [](const char* name, int loops) {
    Config c = tiny_config(name);
    c.num_loops = loops;
    return c;
  };
  expect_cached_rows(config("transformer", 1), [](int64_t n, int64_t) { return 4 * n; });
  expect_cached_rows(config("universal", 2), [](int64_t n, int64_t) { return 2 * 4 * n; });
  expect_cached_rows(config("rins", 3), [](int64_t n, int64_t) { return (3 * 2 + 2) * n; });
  expect_cached_rows(config("yoco", 1), [](int64_t n, int64_t ring) { return n + 2 * ring; });
  expect_cached_rows(config("yoco-u", 3), [](int64_t n, int64_t ring) { return n + 3 * 2 * ring; });
  expect_cached_rows(config("yoco-upper-loop", 3), [](int64_t n, int64_t ring) { return n + 2 * ring; });
  expect_cached_rows(config("yoco-upper-loop-unshared", 3),
                     [](int64_t n, int64_t ring) { return 3 * 2 * n + 2 * ring; });
  expect_cached_rows(config("yoco-plus", 1), [](int64_t n, int64_t) { return 2 * n; });
}

TEST(State, OfRetentionIsOneMatrixAHeadWhateverTheLength) {
  FreshRandom random;
  Config config = tiny_config("yoco");
  config.self_mixer = Mixer::Retention;
  config.num_retention_heads = 2;
  const Plan plan = tiny_model("yoco_retention", config).plan;
  const Weights weights = random_weights(plan, random.seed());
  Sequence sequence(plan, weights);
  for (int64_t n = 1; n <= 10; n++) {
    sequence.feed(random.tokens(1, config.vocab_size));
    EXPECT_EQ(sequence.state().elements(), 2 * n * 8 + 2 * (2 * 8 * 8)) << n << " tokens";
  }
}

}  // namespace
}  // namespace onceover::test
