// Models that are the same model under two names.
#include <gtest/gtest.h>

#include <functional>

#include "architectures/registry.h"
#include "support/models.h"
#include "support/oracle.h"
#include "support/random.h"
#include "support/unroll.h"

namespace onceover::test {
namespace {

using reference::RowsOf;
using reference::Weights;

RowsOf logits_of(const Config& config, const Weights& weights, const std::vector<int>& text, int loops = 0) {
  return all_logits(tiny_model("model", config, loops).plan, weights, text);
}

TEST(Looping, OneLoopOfYocoUIsYocoBitForBit) {
  FreshRandom random;
  Config yoco = tiny_config("yoco"), yoco_u = tiny_config("yoco-u");
  yoco_u.cross_position_embedding = yoco.cross_position_embedding;
  const Plan plan = build(yoco);
  const Weights weights = random_weights(plan, random.seed());
  const std::vector<int> text = random.tokens(14, yoco.vocab_size);
  EXPECT_EQ(logits_of(yoco_u, weights, text, 1), logits_of(yoco, weights, text));
  EXPECT_NE(logits_of(yoco_u, weights, text, 2), logits_of(yoco, weights, text));
}

TEST(Looping, TheRunsLoopsCountLikeTheConfigs) {
  FreshRandom random;
  Config two = tiny_config("yoco-u"), four = two;
  two.num_loops = 2;
  four.num_loops = 4;
  const Weights weights = random_weights(build(two), random.seed());
  const std::vector<int> text = random.tokens(9, two.vocab_size);
  EXPECT_EQ(logits_of(two, weights, text, 4), logits_of(four, weights, text));
  EXPECT_NE(logits_of(two, weights, text), logits_of(four, weights, text));
}

// A looped model equals the deeper model without loops that has the looped layers' weights copied.
void expect_deep_equals_looped(const Config& looped, const Config& deep,
                               const std::function<int(int)>& source) {
  FreshRandom random;
  const Plan plan = build(looped);
  const Weights weights = random_weights(plan, random.seed());
  const Weights copies = copy_layers(build(deep), plan, weights, source);
  const std::vector<int> text = random.tokens(13, looped.vocab_size);
  EXPECT_EQ(logits_of(deep, copies, text), logits_of(looped, weights, text));
}

TEST(Looping, UniversalIsADeepTransformerWithCopiedLayers) {
  Config looped = tiny_config("universal"), deep = tiny_config("transformer");
  looped.num_loops = 3;
  deep.num_hidden_layers = 12;
  expect_deep_equals_looped(looped, deep, [](int layer) { return layer % 4; });
}

TEST(Looping, RinsIsADeepTransformerWithItsEarlyLayersCopied) {
  Config looped = tiny_config("rins"), deep = tiny_config("transformer");
  deep.num_hidden_layers = 8;  // 2 early layers 3 times, then 2 late ones
  expect_deep_equals_looped(looped, deep, [](int layer) { return layer < 6 ? layer % 2 : layer - 4; });
}

TEST(Looping, YocoUIsADeepYocoWithCopiedSelfLayers) {
  for (const Mixer mixer : {Mixer::Attention, Mixer::Retention}) {
    Config looped = tiny_config("yoco-u"), deep = tiny_config("yoco");
    looped.self_mixer = deep.self_mixer = mixer;
    deep.cross_position_embedding = looped.cross_position_embedding;
    deep.num_hidden_layers = 8;  // 2 self layers 3 times, then 2 cross layers
    deep.num_self_layers = 6;
    expect_deep_equals_looped(looped, deep, [](int layer) { return layer < 6 ? layer % 2 : layer - 4; });
  }
}

TEST(Looping, YocoPlusStartsAsYocoAndLeavesItWhenTheFirstLayersShareIsNotZero) {
  FreshRandom random;
  Config yoco = tiny_config("yoco"), plus = tiny_config("yoco-plus");
  plus.cross_kv = CrossKv::Projected;
  plus.sliding_window = yoco.sliding_window;
  const Plan plan = build(plus);
  Weights weights = random_weights(plan, random.seed());
  const std::vector<int> text = random.tokens(14, yoco.vocab_size);
  const Plan yoco_plan = build(yoco);
  const RowsOf expected =
      logits_of(yoco, copy_layers(yoco_plan, plan, weights, [](int layer) { return layer; }), text);
  for (const bool start : {true, false}) {
    for (size_t w = 0; w < weights.size(); w++) {
      const Init& init = plan.weights[w].init;
      if (init.rule != Init::Rule::Values) continue;
      weights[w] = init.values;
      if (!start) weights[w][0] = 0.2 * init.values[1];
    }
    const double difference = largest_difference(logits_of(plus, weights, text), expected);
    if (start)
      EXPECT_LE(difference, 1e-6);
    else
      EXPECT_GT(difference, 1e-3);
  }
}

TEST(Looping, TheSourceOfYocoPlussResidualMattersOnceItLoops) {
  FreshRandom random;
  Config same = tiny_config("yoco-plus"), first = same;
  first.kv_residual_source = ResidualSource::FirstLoop;
  const Weights weights = random_weights(build(same), random.seed());
  const std::vector<int> text = random.tokens(8, same.vocab_size);
  EXPECT_EQ(logits_of(same, weights, text, 1), logits_of(first, weights, text, 1));
  EXPECT_NE(logits_of(same, weights, text, 2), logits_of(first, weights, text, 2));
}

}  // namespace
}  // namespace onceover::test
