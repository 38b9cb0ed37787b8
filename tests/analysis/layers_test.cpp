#include "analysis/layers.h"

#include <gtest/gtest.h>

#include "support/models.h"

namespace onceover {
namespace {

TEST(Layers, SegmentsAreAllStepsInOrder) {
  for (const test::Model& model : test::tiny_models()) {
    for (bool whole_iterations : {false, true}) {
      ValueId next = 0;
      for (const Segment& segment : layer_segments(model.plan, whole_iterations)) {
        EXPECT_EQ(segment.first, next) << model.name;
        EXPECT_GE(segment.last, segment.first) << model.name;
        next = segment.last + 1;
      }
      EXPECT_EQ(next, static_cast<ValueId>(model.plan.steps.size())) << model.name;
    }
  }
}

// Two layers in the loop, three times: six applications, or three iterations.
TEST(Layers, IterationsAreWholeWhenAsked) {
  const Plan plan = test::tiny_model("looped", test::tiny_config("yoco-u"), 3).plan;
  const size_t divided = layer_segments(plan, false).size(), whole = layer_segments(plan, true).size();
  EXPECT_EQ(divided - whole, 3);
}

TEST(Layers, ATruncatedGradientStartsWithTheFirstOfTheLastIterations) {
  const Plan plan = test::tiny_model("looped", test::tiny_config("yoco-u"), 3).plan;
  for (int loops : {1, 2}) {
    const ValueId first = first_trained(plan, loops);
    EXPECT_EQ(plan.steps[first].loop, 3 - loops);
    EXPECT_EQ(plan.steps[first - 1].loop, 2 - loops);
  }
  EXPECT_EQ(first_trained(plan, 0), 0);
  EXPECT_EQ(first_trained(plan, 3), 0);
}

}  // namespace
}  // namespace onceover
