#include "analysis/loops.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "architectures/registry.h"
#include "support/models.h"

namespace onceover {
namespace {

class LoopEnds : public testing::TestWithParam<test::Model> {};

// One end for each iteration, each in its iteration, and the next one begins with it.
TEST_P(LoopEnds, AreTheHiddenStatesBetweenIterations) {
  const Plan& plan = GetParam().plan;
  int deepest = 0;
  for (const Step& step : plan.steps) deepest = std::max(deepest, step.loop);
  const std::vector<ValueId> ends = loop_ends(plan);
  if (deepest == 0) {
    EXPECT_TRUE(ends.empty());
    return;
  }
  ASSERT_EQ(ends.size(), static_cast<size_t>(deepest) + 1);
  for (int t = 0; t <= deepest; t++) {
    EXPECT_EQ(plan.steps[ends[t]].loop, t);
    EXPECT_EQ(plan.steps[ends[t]].width, plan.steps[0].width);
    if (t < deepest) {
      const auto next = std::ranges::find(plan.steps, t + 1, &Step::loop);
      ValueId read = -1;
      for_inputs(next->op, [&](const char*, ValueId v, Reads) { read = v; });
      EXPECT_EQ(read, ends[t]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Every, LoopEnds, testing::ValuesIn(test::tiny_models()),
                         [](const auto& model) { return model.param.name; });

}  // namespace
}  // namespace onceover
