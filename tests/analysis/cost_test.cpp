#include "analysis/cost.h"

#include <gtest/gtest.h>

#include "analysis/plans.h"
#include "base/error.h"
#include "support/fresh_seed.h"
#include "support/models.h"

namespace onceover {
namespace {

// Relative tolerance of sums of exact counts taken in another order.
constexpr double rounding = 1e-12;

void expect_close(double a, double b) { EXPECT_NEAR(a, b, rounding * std::max(std::abs(a), std::abs(b))); }

TEST(Cost, AttendedPairsAreThoseOfCountingOneByOne) {
  std::mt19937 random(fresh_seed());
  for (int trial = 0; trial < 200; trial++) {
    const int64_t first = random() % 40, end = first + random() % 40;
    const int window = static_cast<int>(random() % 20);
    int64_t pairs = 0;
    for (int64_t row = first; row < end; row++) {
      for (int64_t seen = 0; seen <= row; seen++) pairs += window == 0 || row - seen < window;
    }
    EXPECT_EQ(attended_pairs(first, end, window), pairs) << first << " " << end << " " << window;
  }
}

TEST(Cost, ChunksAddUpToOnePrefill) {
  std::mt19937 random(fresh_seed());
  for (const auto& [name, config, loops, plan] : test::tiny_models()) {
    SCOPED_TRACE(name);
    const Analysis a = analyse(plan);
    const int64_t first = 1 + random() % 50, second = 1 + random() % 50;
    const Flops x = cost(plan, a, 0, first, 0).flops, y = cost(plan, a, first, second, 1).flops;
    const Flops whole = cost(plan, a, 0, first + second, 1).flops;
    expect_close(x.linear + y.linear, whole.linear);
    expect_close(x.attention_full + y.attention_full, whole.attention_full);
    expect_close(x.attention_window + y.attention_window, whole.attention_window);
    expect_close(x.retention + y.retention, whole.retention);
    expect_close(x.experts + y.experts, whole.experts);
    expect_close(x.other + y.other, whole.other);
    expect_close(x.total() + y.total(), whole.total());
  }
}

TEST(Cost, TransformerIsThatOfTheTextbook) {
  const Config c = *find_preset("transformer-tiny");
  const Plan plan = build(c);
  const double n = 20, d = c.hidden_size, layers = c.num_hidden_layers;
  const double kv = c.num_key_value_heads * c.head_dim, ffn = c.intermediate_size;
  const Flops f = cost(plan, analyse(plan, LogitRows::Every), 0, 20, 20).flops;
  EXPECT_EQ(f.linear, 2 * n * layers * (2 * d * d + 2 * d * kv + 3 * d * ffn));
  EXPECT_EQ(f.attention_full, layers * 4 * d * n * (n + 1) / 2);
  EXPECT_EQ(f.attention_window, 0);
  EXPECT_EQ(f.logits, 2 * n * d * c.vocab_size);
  EXPECT_EQ(f.experts + f.retention, 0);
  // Norms, rotary, SwiGLU and sums for every row; the softmax for every pair.
  const double row = (2 * layers + 1) * 4 * d + layers * (3 * (d + kv) + 5 * ffn + 2 * d);
  EXPECT_EQ(f.other, n * row + layers * 5 * c.num_attention_heads * n * (n + 1) / 2);
  EXPECT_EQ(training_flops_per_token(plan, 20), 3 * f.total() / n);
}

TEST(Cost, OnlyTheAskedRowsReachTheHead) {
  const Plan plan = preset_plan("yoco-u-tiny");
  const Analysis a = analyse(plan);
  const auto logits = [&](int64_t rows) { return cost(plan, a, 0, 30, rows).flops.logits; };
  EXPECT_EQ(logits(0), 0);
  EXPECT_EQ(logits(3), 3 * logits(1));
}

TEST(Cost, PrefillOfYocoGrowsByTheSameForEveryTokenPastTheWindow) {
  // No jump at a chunk's border, none for short prompts: the cross-decoder runs one row at every length.
  const Plan plan = preset_plan("yoco-u-1.3b");
  const Analysis a = analyse(plan);
  const auto total = [&](int64_t n) { return cost(plan, a, 0, n, 1).flops.total(); };
  const double step = total(1025) - total(1024);
  for (int64_t n : {600, 2047, 2048, 2049, 4096})
    EXPECT_NEAR(total(n + 1) - total(n), step, 1e-9 * step) << n;
}

TEST(Cost, DecodeReadsTheWindowAndTheGlobalCache) {
  const Config c = *find_preset("yoco-u-tiny");
  const Plan plan = build(c);
  const double kv = 2 * c.num_key_value_heads * c.head_dim;
  const ByRetention read = cost(plan, analyse(plan), 99, 1, 1).state_elements_read;
  EXPECT_EQ(read.window, 3 * 2 * 8 * kv) << "3 loops, 2 layers, window 8";
  EXPECT_EQ(read.every, 2 * 100 * kv) << "2 cross layers";
  EXPECT_EQ(read.matrix, 0);
}

TEST(Cost, WrittenStateIsWhatOutlivesTheCall) {
  for (const auto& [name, config, loops, plan] : test::tiny_models()) {
    const Analysis a = analyse(plan);
    for (int64_t tokens : {1, 7, 50}) {
      EXPECT_EQ(cost(plan, a, 0, tokens, 1).state_elements_written.total(), a.state_elements(tokens)) << name;
    }
    EXPECT_EQ(cost(plan, a, 10, 0, 0).state_elements_written.total(), 0) << name;
  }
}

TEST(Cost, LoopReadsItsWeightsAgain) {
  const Config c = *find_preset("yoco-u-tiny");
  const Plan once = build(c, {.loops = 1}), thrice = build(c, {.loops = 3});
  const Cost one = cost(once, analyse(once), 5, 1, 1), three = cost(thrice, analyse(thrice), 5, 1, 1);
  EXPECT_EQ(one.weight_elements_distinct, three.weight_elements_distinct);
  const double d = 64, kv = 32, ffn = 256;
  const double self_layer = 2 * d * d + 2 * d * kv + 3 * d * ffn + 2 * d;
  EXPECT_EQ(three.weight_elements_read - one.weight_elements_read, 2 * 2 * self_layer);
  // The tied table is read once, though a row of it is also looked up.
  EXPECT_EQ(three.weight_elements_distinct, count_parameters(thrice).total);
}

TEST(Cost, ExpertsReadAreNoMoreThanTokensChoose) {
  Config c = *find_preset("transformer-tiny");
  c.num_experts = 8;
  c.num_experts_per_tok = 2;
  c.moe_intermediate_size = 16;
  const Plan plan = build(c);
  const Analysis every = analyse(plan, LogitRows::Every);
  const double expert = 3.0 * 64 * 16, layers = 4;
  const auto read = [&](int64_t tokens) { return cost(plan, every, 0, tokens, tokens).weight_elements_read; };
  const double lookup = 64;  // one more row of the embedding for each token
  EXPECT_EQ(read(2) - read(1) - lookup, layers * 2 * expert);
  EXPECT_EQ(read(4) - read(1) - 3 * lookup, layers * 6 * expert);
  EXPECT_EQ(read(9) - read(4) - 5 * lookup, 0) << "all 8 are read already";
  const Flops f = cost(plan, every, 0, 3, 3).flops;
  EXPECT_EQ(f.experts, 3 * layers * (2 * 8 * 64 + 2 * 2 * expert));
}

TEST(Cost, RefusesCallsThatCannotBe) {
  const Plan plan = preset_plan("yoco-tiny");
  const Analysis a = analyse(plan);
  EXPECT_THROW(cost(plan, a, -1, 1, 1), Error);
  EXPECT_THROW(cost(plan, a, 0, -1, 0), Error);
  EXPECT_THROW(cost(plan, a, 0, 1, 2), Error);
  EXPECT_THROW(cost(plan, a, 0, 1, -1), Error);
  EXPECT_THROW(cost(plan, a, 1 << 30, 1, 1), Error);
  EXPECT_THROW(cost(plan, a, INT64_MAX, INT64_MAX, 1), Error);
  EXPECT_THROW(training_flops_per_token(plan, 0), Error);
}

TEST(ParameterCount, CountEachWeightOnceAndTheActiveExperts) {
  const double d = 2560, kv = 512, layer = 2 * d * d + 2 * d * kv + 2 * d;
  const double expert = 3 * d * 1024, shared = expert, router = 64 * d;
  const ParameterCount p = count_parameters(preset_plan("transformer-10b-moe"));
  EXPECT_EQ(p.embedding, 32000 * d);
  EXPECT_EQ(p.non_embedding(), 20 * (layer + router + 64 * expert + shared) + d);
  EXPECT_EQ(p.active, 20 * (layer + router + 8 * expert + shared) + d + 32000 * d);
  const ParameterCount dense = count_parameters(preset_plan("yoco-u-1.3b"));
  EXPECT_EQ(dense.active, dense.total);
}

TEST(ParameterCount, LoopsAddLayersAppliedButNoWeights) {
  EXPECT_EQ(layer_applications(preset_plan("transformer-1.3b")), 20);
  EXPECT_EQ(layer_applications(preset_plan("yoco-1.3b")), 20);
  for (const char* name : {"universal-1.3b", "rins-1.3b", "yoco-u-1.3b", "yoco-upper-loop-1.3b"})
    EXPECT_EQ(layer_applications(preset_plan(name)), 40) << name;
  const Config c = *find_preset("yoco-u-1.3b");
  EXPECT_EQ(layer_applications(build(c, {.loops = 5})), 60);
  EXPECT_EQ(count_parameters(build(c, {.loops = 5})).total, count_parameters(build(c)).total);
}

}  // namespace
}  // namespace onceover
