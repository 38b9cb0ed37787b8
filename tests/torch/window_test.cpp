// Attention in blocks is attention under a mask, and costs rows * window.
#include <gtest/gtest.h>

#include <fstream>

#include "plan/builder.h"
#include "torch/support.h"

namespace onceover::test {
namespace {

constexpr int vocab = 23, width = 8;

// One attention, whose queries, keys and values are linear maps of the tokens.
Plan attention_plan(int window, int heads, int kv_heads) {
  Builder b;
  const ValueId x = b.embed("embed_tokens", vocab, width, Init::normal(1));
  const auto map = [&](const char* name, int out) {
    return b.linear(x, name, {out, "heads", "residual", Init::normal(0.5)});
  };
  const ValueId q = map("q_proj", width);
  const Kv kv{map("k_proj", width * kv_heads / heads), map("v_proj", width * kv_heads / heads)};
  b.logits(b.attend(q, kv, heads, kv_heads, {window}), "lm_head.weight", vocab, Init::normal(0.5));
  return b.finish();
}

struct Shape {
  int window;
  int64_t rows;
};

// Windows that divide the rows and do not, of one row, and as long as the sequence or longer.
TEST(TorchWindow, BlocksEqualTheMask) {
  FreshRandom random;
  for (const auto& [window, rows] :
       std::vector<Shape>{{1, 7}, {4, 16}, {4, 17}, {5, 33}, {7, 8}, {8, 8}, {9, 8}, {16, 50}}) {
    SCOPED_TRACE(testing::Message() << "window " << window << ", rows " << rows);
    const Plan plan = attention_plan(window, 4, 2);
    const auto plans = [&](int) { return plan; };
    const auto weights = random_weights(plan, random.seed());
    const Tokens tokens = random_tokens(random, vocab, 2, rows);
    const auto trainer = torch_trainer(plans, weights);
    const double expected = oracle_loss(plan, weights, tokens);
    EXPECT_NEAR(trainer->evaluate(tokens.batch(), {}).loss, expected, 1e-5 * expected);
    EXPECT_LT(
        relative_difference(gradients(*cpu_trainer(plans, weights), tokens), gradients(*trainer, tokens)),
        1e-5);
  }
}

int64_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    int64_t kib = 0;
    if (word == "VmHWM:" && status >> kib) return kib * 1024;
  }
  return 0;
}

// One square of scores of these rows would take 1 GiB.
TEST(TorchWindow, ALongSequenceHoldsNoSquareOfScores) {
  FreshRandom random;
  constexpr int64_t rows = 16384;
  const Plan plan = attention_plan(16, 1, 1);
  const auto weights = random_weights(plan, random.seed());
  const auto trainer = torch_trainer([&](int) { return plan; }, weights);
  const Tokens tokens = random_tokens(random, vocab, 1, rows);
  gradients(*trainer, random_tokens(random, vocab, 1, 64));
  const int64_t before = peak_bytes();
  ASSERT_GT(before, 0);
  gradients(*trainer, tokens);
  EXPECT_LT(peak_bytes() - before, rows * rows);
}

}  // namespace
}  // namespace onceover::test
