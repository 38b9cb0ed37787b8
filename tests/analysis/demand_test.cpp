#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "analysis/analysis.h"
#include "analysis/layers.h"
#include "analysis/plans.h"
#include "support/models.h"

namespace onceover {
namespace {

// The demand of the steps of one kind in one layer.
std::set<Rows> demand_in(const Plan& plan, const Analysis& a, int layer, const std::string& weight_suffix) {
  std::set<Rows> found;
  for (size_t i = 0; i < plan.steps.size(); i++) {
    if (layer_of(plan.scopes[plan.steps[i].scope]) != layer) continue;
    for_weights(plan.steps[i].op, [&](const char*, WeightId w) {
      if (plan.weights[w].name.ends_with(weight_suffix)) found.insert(a.demand[i]);
    });
  }
  return found;
}

using Needed = std::set<std::pair<ValueId, int64_t>>;

// Follows every row that the logits of `row` depend on, one by one, by the masks.
void collect(const Plan& plan, ValueId value, int64_t row, Needed& needed) {
  if (!needed.emplace(value, row).second) return;
  const Op& op = plan.steps[value].op;
  const auto* attend = std::get_if<Attend>(&op);
  const int64_t window = attend == nullptr ? 0 : attend->mask.window;
  for_inputs(op, [&](const char*, ValueId input, Reads reads) {
    const int64_t first = reads == Reads::Row ? row
                          : window == 0       ? 0
                                              : std::max<int64_t>(0, row - window + 1);
    for (int64_t r = first; r <= row; r++) collect(plan, input, r, needed);
  });
}

TEST(Demand, EveryRowThatTheLastLogitsDependOnIsMade) {
  constexpr int64_t tokens = 11;
  for (const auto& [name, config, loops, plan] : test::tiny_models()) {
    SCOPED_TRACE(name);
    const Analysis analysis = analyse(plan);
    Needed needed;
    collect(plan, plan.logits, tokens - 1, needed);
    std::set<ValueId> used;
    for (const auto& [value, row] : needed) {
      used.insert(value);
      ASSERT_NE(analysis.demand[value], Rows::None) << "value " << value;
      if (row < tokens - 1) {
        ASSERT_EQ(analysis.demand[value], Rows::All) << "value " << value << " row " << row;
      }
    }
    for (size_t v = 0; v < plan.steps.size(); v++) {
      if (used.contains(static_cast<ValueId>(v))) continue;
      EXPECT_EQ(analysis.demand[v], Rows::None) << "value " << v;
    }
  }
}

TEST(Demand, LastTransformerLayerMakesOnlyItsKeysAndValuesForEveryRow) {
  const Plan plan = preset_plan("transformer-tiny");
  const Analysis a = analyse(plan);
  for (const char* weight : {"k_proj.weight", "v_proj.weight", "input_layernorm.weight"})
    EXPECT_EQ(demand_in(plan, a, 3, weight), std::set{Rows::All}) << weight;
  for (const char* weight : {"q_proj.weight", "o_proj.weight", "down_proj.weight"})
    EXPECT_EQ(demand_in(plan, a, 3, weight), std::set{Rows::Logits}) << weight;
  EXPECT_EQ(demand_in(plan, a, 2, "q_proj.weight"), std::set{Rows::All});
}

TEST(Demand, CrossDecoderOfYocoRunsOnlyRowsWithLogits) {
  for (const char* preset : {"yoco-tiny", "yoco-u-tiny"}) {
    const Plan plan = preset_plan(preset);
    const Analysis a = analyse(plan);
    EXPECT_EQ(demand_in(plan, a, 1, ".weight"), std::set{Rows::All}) << preset;
    EXPECT_EQ(demand_in(plan, a, 2, ".weight"), std::set{Rows::Logits}) << preset;
    EXPECT_EQ(demand_in(plan, a, 3, ".weight"), std::set{Rows::Logits}) << preset;
  }
}

TEST(Demand, LogitsOfEveryRowDemandEveryRowOfEveryStepThatTheyNeed) {
  for (const auto& [name, config, loops, plan] : test::tiny_models()) {
    const Analysis a = analyse(plan, LogitRows::Every);
    const std::vector<bool> reaches = reaches_logits(plan);
    for (size_t step = 0; step < reaches.size(); step++)
      EXPECT_EQ(a.demand[step], reaches[step] ? Rows::All : Rows::None) << name << " step " << step;
  }
}

TEST(Demand, RetentionReadForLogitsOnlyStillNeedsEveryRowOfItsHistory) {
  Builder b;
  const ValueId x = b.embed("embed_tokens", 10, 8, Init::normal(1));
  const ValueId q = b.linear(x, "q", narrow), k = b.linear(x, "k", narrow), v = b.linear(x, "v", narrow);
  const ValueId decay = b.linear(x, "decay", {2, "heads", "residual", Init::normal(1)});
  const ValueId y = b.retain(q, {k, v}, decay, 2, 16);
  b.logits(y, "lm_head.weight", 10, Init::normal(1));
  const Analysis a = analyse(b.finish());
  EXPECT_EQ(a.demand[y], Rows::Logits);
  EXPECT_EQ(a.demand[q], Rows::Logits);
  for (ValueId history : {k, v, decay}) EXPECT_EQ(a.demand[history], Rows::All);
  ASSERT_EQ(a.slots.size(), 1u);
  EXPECT_EQ(a.slots[0].value, y);
  EXPECT_EQ(a.slots[0].keep.kind, Retention::Kind::Matrix);
  EXPECT_EQ(a.slots[0].width, 2 * 4 * 4);
}

}  // namespace
}  // namespace onceover
