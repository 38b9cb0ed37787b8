// What the oracle refuses.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "support/models.h"
#include "support/oracle.h"
#include "support/random.h"

namespace onceover::test {
namespace {

using reference::Executor;
using reference::State;
using reference::Weights;

TEST(Weights, AreTheSameNumbersWhenWidened) {
  const std::vector<float> numbers = {0.1F, -2, 3e-40F, 7};
  const std::vector<std::byte> halves = encode(std::vector<float>{1.5F, -0.25F}, DType::BF16);
  const Weights wide = reference::widen({view_of(numbers, {2, 2}), {DType::BF16, {2}, halves}});
  EXPECT_EQ(wide, (Weights{{numbers.begin(), numbers.end()}, {1.5, -0.25}}));
}

class Refusals : public testing::Test {
 protected:
  template <class Exception, class F>
  void expect_refused(F call, const std::string& words) {
    try {
      call();
      FAIL() << "expected a refusal with: " << words;
    } catch (const Exception& e) {
      EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
    }
  }

  const Plan plan = tiny_model("yoco_u", tiny_config("yoco-u")).plan;
  const Analysis analysis = analyse(plan);
  const Weights weights = random_weights(plan, 1);
  const Executor executor{plan, analysis, weights};
};

TEST_F(Refusals, ATokenOutsideTheVocabularyLeavesTheStateUntouched) {
  State state;
  executor.run(state, {1, 2, 3}, {});
  const State before = state;
  for (const int token : {-1, 29}) {
    expect_refused<std::out_of_range>(
        [&] {
          executor.run(state, {0, token}, {4});
        },
        fmt::format("token {} in a vocabulary of 29", token));
  }
  EXPECT_EQ(state.tokens, before.tokens);
  EXPECT_EQ(state.slots, before.slots);
}

TEST_F(Refusals, LogitsOfARowThatIsNotFresh) {
  State state;
  executor.run(state, {1, 2, 3}, {});
  expect_refused<std::out_of_range>([&] { executor.run(state, {4}, {2}); }, "row 2");
  expect_refused<std::out_of_range>([&] { executor.run(state, {4}, {4}); }, "row 4");
  EXPECT_EQ(executor.run(state, {4}, {3}).count(3), 1U);
}

TEST_F(Refusals, TheStateOfAnotherDepth) {
  const Plan deeper = tiny_model("yoco_u", tiny_config("yoco-u"), 4).plan;
  const Analysis deeper_analysis = analyse(deeper);
  State state;
  Executor(deeper, deeper_analysis, weights).run(state, {1}, {});
  expect_refused<std::logic_error>([&] { executor.run(state, {1}, {}); }, "slots");
}

TEST_F(Refusals, WeightsOfAnotherShape) {
  Weights wrong = weights;
  wrong[0].pop_back();
  expect_refused<std::logic_error>([&] { Executor(plan, analysis, wrong); }, plan.weights[0].name);
  wrong.clear();
  expect_refused<std::logic_error>([&] { Executor(plan, analysis, wrong); }, "0 weights");
}

TEST_F(Refusals, ARowThatAMistakenAnalysisDidNotDemand) {
  Analysis mistaken = analysis;
  mistaken.demand[0] = Rows::Logits;
  State state;
  const Executor without(plan, mistaken, weights);
  expect_refused<std::logic_error>([&] { without.run(state, {1, 2}, {1}); }, "row 0 of value %0");
}

TEST_F(Refusals, ARingThatForgetsTooSoon) {
  Analysis mistaken = analysis;
  for (Slot& slot : mistaken.slots)
    if (slot.keep.kind == Retention::Kind::Window) slot.keep.window = tiny_window - 2;
  State state;
  const Executor forgetful(plan, mistaken, weights);
  forgetful.run(state, {1, 2, 3, 4, 5, 6}, {5});
  expect_refused<std::logic_error>([&] { forgetful.run(state, {7}, {6}); }, "needs rows 2 to 6");
}

}  // namespace
}  // namespace onceover::test
