// Every op against numbers worked by hand.
#include "reference/equations.h"

#include <gtest/gtest.h>

#include <cmath>

namespace onceover::reference {
namespace {

constexpr double tolerance = 1e-9;
const double ln3 = std::log(3.0);

void expect_row(const Vector& found, const Vector& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t j = 0; j < found.size(); j++) EXPECT_NEAR(found[j], expected[j], tolerance) << "element " << j;
}

TEST(Equations, EmbedScalesTheTokensRowOfTheTable) {
  expect_row(embed({.table = 0, .scale = 2}, {1, 2, 3, 4, 5, 6}, 1, 2), {6, 8});
}

TEST(Equations, NormDividesByTheRootMeanSquareAndMultipliesTheWeight) {
  const Vector weight = {1, 2};  // mean square of (3, 4) is 12.5, its root 3.5355339059
  expect_row(norm({.x = 0, .weight = 0, .eps = 0}, &weight, nullptr, {3, 4}), {0.8485281374, 2.2627416998});
}

TEST(Equations, NormTreatsEachGroupAlone) {
  const Norm two_heads{.x = 0, .weight = no_weight, .groups = 2, .eps = 0};
  expect_row(norm(two_heads, nullptr, nullptr, {3, 4, 0, 2}), {0.8485281374, 1.1313708499, 0, 1.4142135624});
}

TEST(Equations, NormAddsEpsilonToTheMeanSquare) {
  const Norm op{.x = 0, .weight = no_weight, .eps = 3};
  expect_row(norm(op, nullptr, nullptr, {1, 1}), {0.5, 0.5});
  expect_row(norm(op, nullptr, nullptr, {0, 0}), {0, 0});
}

TEST(Equations, ACentredNormIsLayerNorm) {
  const Vector weight = {3, 5}, bias = {10, 20};  // (1, 3) less its mean 2 has variance 1
  expect_row(norm({.x = 0, .weight = 0, .eps = 0, .bias = 1, .centred = true}, &weight, &bias, {1, 3}),
             {7, 25});
}

TEST(Equations, ASharedWeightIsThatOfEveryGroup) {
  const Vector weight = {1, 2};
  const Norm op{.x = 0, .weight = 0, .groups = 2, .eps = 0, .shared = true};
  expect_row(norm(op, &weight, nullptr, {3, 4, 0, 2}), {0.8485281374, 2.2627416998, 0, 2.8284271247});
}

TEST(Equations, GeluWeighsByTheNormalDistribution) {
  expect_row(activate({.x = 0, .function = Activation::Gelu}, {0, 1, -2}), {0, 0.8413447461, -0.0455002639});
  expect_row(activate({.x = 0, .function = Activation::GeluTanh}, {0, 1, -2}),
             {0, 0.8411919906, -0.0454023060});
}

TEST(Equations, LinearMultipliesByRowsOfTheWeight) {
  expect_row(linear({1, 2, 3, 4, 5, 6}, {1, 10}), {21, 43, 65});
}

TEST(Equations, RopeTurnsPairsHalfAHeadApart) {
  // theta 100 over head_dim 4: angles 2 and 0.2 at row 2, pairs (0, 2) and (1, 3).
  expect_row(rope({.x = 0, .heads = 1, .angles = {.theta = 100}}, {1, 2, 3, 4}, 2),
             {-3.1440391170, 1.1654558325, -0.3391430828, 4.3176049729});
}

TEST(Equations, RopeLeavesDimsBehindTheTurnedOnesAndMultipliesByTheMagnitude) {
  RopeAngles angles{.theta = 100, .dims = 2};
  expect_row(rope({.x = 0, .heads = 1, .angles = angles}, {1, 0, 3, 4}, 2),
             {-0.4161468365, 0.9092974268, 3, 4});
  angles.scaling = {.kind = RopeScaling::Kind::Yarn, .factor = 1, .original_length = 64, .magnitude = 2};
  expect_row(rope({.x = 0, .heads = 1, .angles = angles}, {1, 0, 3, 4}, 2),
             {-0.8322936731, 1.8185948537, 3, 4});
}

TEST(Equations, RopeTurnsEveryHeadAlike) {
  const Vector turned = rope({.x = 0, .heads = 2, .angles = {.theta = 100}}, {1, 2, 3, 4, 1, 2, 3, 4}, 2);
  expect_row(Vector(turned.begin() + 4, turned.end()), Vector(turned.begin(), turned.begin() + 4));
}

TEST(Equations, RopeLeavesRowZeroAsItIs) {
  expect_row(rope({.x = 0, .heads = 1}, {1, 2, 3, 4}, 0), {1, 2, 3, 4});
}

TEST(Equations, RopeIsExactAtRowsThatHalfPrecisionCannotHold) {
  // bfloat16 would turn row 15962 into 15936, whose cosine is -0.2680.
  expect_row(rope({.x = 0, .heads = 1}, {1, 0}, 15962), {-0.908015901251, 0.418935702794});
}

TEST(Equations, AttendWeighsValuesByTheSoftmaxOfScaledScores) {
  const Vector q = {2, 0}, k0 = {0, 5}, k1 = {ln3, 7}, v0 = {4, 0}, v1 = {8, 1};
  const Attend op{.q = 0, .k = 1, .v = 2, .heads = 1, .kv_heads = 1, .mask = {}, .scale = 0.5F};
  expect_row(attend(op, q, {&k0, &k1}, {&v0, &v1}), {7, 0.75});  // scores 0 and ln 3: shares 1/4 and 3/4
}

TEST(Equations, AttendGivesNeighbouringQueryHeadsOneKeyHead) {
  const Vector q = {1, 1, 1, 1}, k0 = {0, 0}, k1 = {ln3, 0}, v0 = {0, 0}, v1 = {4, 4};
  const Attend op{.q = 0, .k = 1, .v = 2, .heads = 4, .kv_heads = 2, .mask = {}, .scale = 1};
  expect_row(attend(op, q, {&k0, &k1}, {&v0, &v1}), {3, 3, 2, 2});
}

TEST(Equations, AttendSurvivesScoresThatOverflowExp) {
  const Vector q = {1}, k0 = {4000}, k1 = {-4000}, v0 = {5}, v1 = {9};
  const Attend op{.q = 0, .k = 1, .v = 2, .heads = 1, .kv_heads = 1, .mask = {}, .scale = 1};
  expect_row(attend(op, q, {&k0, &k1}, {&v0, &v1}), {5});
}

TEST(Equations, RetainDecaysItsStateAndAddsKeyTimesValue) {
  const Retain op{.q = 0, .k = 1, .v = 2, .decay = 3, .heads = 1, .temperature = 1, .scale = 1};
  Vector state = {0};
  take_in(op, state, {2}, {3}, {5});  // nothing to decay yet: S = 6
  expect_row(read_out(op, state, {1}), {6});
  take_in(op, state, {1}, {4}, {0});  // γ = sigmoid(0) = 1/2: S = 3 + 4
  expect_row(read_out(op, state, {2}), {14});
  take_in(op, state, {-1}, {2}, {ln3});  // γ = 3/4: S = 5.25 - 2
  expect_row(read_out(op, state, {4}), {13});
}

TEST(Equations, RetainTakesTheRootOfTheGateAndScalesTheQuery) {
  const Retain op{.q = 0, .k = 1, .v = 2, .decay = 3, .heads = 1, .temperature = 2, .scale = 0.5F};
  Vector state = {8};
  take_in(op, state, {1}, {1}, {-ln3});  // γ = sqrt(1/4): S = 4 + 1
  expect_row(read_out(op, state, {2}), {5});
}

TEST(Equations, RetainKeepsOneMatrixAHead) {
  const Retain op{.q = 0, .k = 1, .v = 2, .decay = 3, .heads = 2, .temperature = 1, .scale = 1};
  Vector state(2 * 2 * 1);                              // [heads, head_dim, v_head_dim]
  take_in(op, state, {1, 2, 3, 4}, {10, 100}, {0, 0});  // S = (10, 20 | 300, 400)
  expect_row(state, {10, 20, 300, 400});
  expect_row(read_out(op, state, {1, 1, 1, -1}), {30, -100});
}

TEST(Equations, SwigluMultipliesByTheGateTimesItsSigmoid) {
  expect_row(swiglu({ln3, 0}, {2, 7}), {1.6479184330, 0});  // 2 * ln 3 * 3/4
}

TEST(Equations, AddAdds) { expect_row(add({1, 2}, {10, 20}), {11, 22}); }

TEST(Equations, MixScalesTheWeightedSum) {
  expect_row(mix({.a = 0, .b = 1, .weight = 0, .scale = 2}, {0.5, 0.25}, {4, 0}, {8, 4}), {8, 2});
}

}  // namespace
}  // namespace onceover::reference
