// Which rows are computed: the oracle's observer counts them.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "support/models.h"
#include "support/oracle.h"
#include "support/random.h"

namespace onceover::test {
namespace {

using reference::RowsOf;
using reference::Weights;

class DemandOf : public testing::TestWithParam<Model> {};

TEST_P(DemandOf, AModelDecidesWhichRowsAreMade) {
  FreshRandom random;
  const Plan& plan = GetParam().plan;
  const Weights weights = random_weights(plan, random.seed());
  Sequence sequence(plan, weights);
  sequence.feed(random.tokens(3, GetParam().config.vocab_size));
  std::map<ValueId, std::vector<int64_t>> made;
  sequence.feed(random.tokens(4, GetParam().config.vocab_size), [&](ValueId value, const RowsOf& rows) {
    for (const auto& [row, numbers] : rows) {
      made[value].push_back(row);
      EXPECT_EQ(numbers.size(), static_cast<size_t>(plan.steps[value].width));
    }
  });
  for (ValueId value = 0; value < static_cast<ValueId>(plan.steps.size()); value++) {
    std::vector<int64_t> expected;
    if (sequence.analysis().demand[value] == Rows::All) expected = {3, 4, 5, 6};
    if (sequence.analysis().demand[value] == Rows::Logits) expected = {6};
    EXPECT_EQ(made[value], expected) << "value " << value;
  }
}

INSTANTIATE_TEST_SUITE_P(, DemandOf, testing::ValuesIn(tiny_models()),
                         [](const auto& model) { return model.param.name; });

// Rows that each layer's feed-forward runs on in one call, in the order of execution.
std::vector<size_t> rows_of_layers(const Plan& plan, const std::vector<int64_t>& calls) {
  FreshRandom random;
  const Weights weights = random_weights(plan, random.seed());
  Sequence sequence(plan, weights);
  std::vector<size_t> counts;
  const auto count = [&](ValueId value, const RowsOf& rows) {
    const bool last_of_layer = std::holds_alternative<Swiglu>(plan.steps[value].op);
    if (last_of_layer) counts.push_back(rows.size());
  };
  for (size_t i = 0; i < calls.size(); i++) {
    const std::vector<int> part = random.tokens(calls[i], plan.steps[plan.logits].width);
    if (i + 1 < calls.size())
      sequence.feed_silently(part, count);
    else
      sequence.feed(part, count);
  }
  return counts;
}

std::vector<size_t> rows_of_layers(const char* architecture, const std::vector<int64_t>& calls) {
  return rows_of_layers(tiny_model(architecture, tiny_config(architecture)).plan, calls);
}

using Counts = std::vector<size_t>;

TEST(Demand, APromptRunsTheCrossDecoderOnItsLastTokenOnly) {
  EXPECT_EQ(rows_of_layers("yoco", {5}), (Counts{5, 5, 1, 1}));
  EXPECT_EQ(rows_of_layers("yoco-u", {5}), (Counts{5, 5, 5, 5, 5, 5, 1, 1}));
}

TEST(Demand, AShortPromptSkipsTheCrossDecoderAsALongOneDoes) {
  for (const size_t length : {1, 2, 3, 40}) {
    EXPECT_EQ(rows_of_layers("yoco", {static_cast<int64_t>(length)}), (Counts{length, length, 1, 1}));
  }
}

TEST(Demand, EarlyChunksOfAPromptNeverReachTheCrossDecoder) {
  EXPECT_EQ(rows_of_layers("yoco", {5, 5, 2}), (Counts{5, 5, 0, 0, 5, 5, 0, 0, 2, 2, 1, 1}));
}

TEST(Demand, TheLastLayerOfATransformerRunsItsFeedForwardOnOneRow) {
  EXPECT_EQ(rows_of_layers("transformer", {7}), (Counts{7, 7, 7, 1}));
}

TEST(Demand, CrossLayersHaveNoKeyOrValueWeights) {
  const Plan plan = tiny_model("yoco_u", tiny_config("yoco-u")).plan;
  std::set<std::string> projections;
  for (const WeightSpec& weight : plan.weights)
    if (weight.name.ends_with("k_proj.weight") || weight.name.ends_with("v_proj.weight"))
      projections.insert(weight.name);
  EXPECT_EQ(projections,
            (std::set<std::string>{
                "model.cross_kv.k_proj.weight", "model.cross_kv.v_proj.weight",
                "model.layers.0.self_attn.k_proj.weight", "model.layers.0.self_attn.v_proj.weight",
                "model.layers.1.self_attn.k_proj.weight", "model.layers.1.self_attn.v_proj.weight"}));
}

}  // namespace
}  // namespace onceover::test
