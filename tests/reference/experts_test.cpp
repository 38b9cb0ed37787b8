// Routed experts by hand: width 1, so that an expert is a number.
#include <gtest/gtest.h>

#include <cmath>

#include "reference/equations.h"

namespace onceover::reference {
namespace {

constexpr double tolerance = 1e-9;
const double ln2 = std::log(2.0), ln3 = std::log(3.0);

Experts routed(int active, bool normalise) {
  return {.x = 0, .router = 0, .gate = 1, .up = 2, .down = 3, .active = active, .normalise = normalise};
}

// Three experts that make 10, 20 and 40 of x = 1, with probabilities 0.4, 0.4 and 0.2.
double make_of_one(int active, bool normalise) {
  const double one = 1 / (0.75 * ln3);  // silu(ln 3) = 0.75 ln 3
  const Vector router = {ln2, ln2, 0}, gate = {ln3, ln3, ln3}, up = {one, one, one}, down = {10, 20, 40};
  return experts(routed(active, normalise), {router, gate, up, down}, {1})[0];
}

TEST(Experts, ATieGoesToTheLowestIndex) {
  EXPECT_NEAR(make_of_one(1, true), 10, tolerance);
  EXPECT_EQ(chosen_experts(routed(2, true), {0.25, 0.25, 0.25, 0.25}), (std::vector<int>{0, 1}));
  EXPECT_EQ(chosen_experts(routed(2, true), {0.1, 0.3, 0.3, 0.3}), (std::vector<int>{1, 2}));
}

TEST(Experts, TheLargestProbabilityComesFirst) {
  EXPECT_EQ(chosen_experts(routed(2, true), {0.1, 0.2, 0.7}), (std::vector<int>{2, 1}));
}

TEST(Experts, ProbabilitiesOfTheChosenAreDividedByTheirSumOnlyWhenNormalised) {
  EXPECT_NEAR(make_of_one(1, false), 4, tolerance);
  EXPECT_NEAR(make_of_one(2, true), 15, tolerance);
  EXPECT_NEAR(make_of_one(2, false), 12, tolerance);
}

TEST(Experts, TheSoftmaxIsOverAllExpertsNotOverTheChosen) {
  EXPECT_NEAR(make_of_one(3, false), 20, tolerance);
  EXPECT_NEAR(make_of_one(3, true), 20, tolerance);
}

TEST(Experts, AnExpertReadsItsOwnMatrices) {
  // Two experts, width 2, feed-forward width 1; the router is certain of expert 1.
  const Vector router = {0, 0, 1000, 0}, gate = {9, 9, ln3, 0}, up = {9, 9, 0, 4}, down = {9, 9, 5, -1};
  const Vector y = experts(routed(1, true), {router, gate, up, down}, {1, 1});
  EXPECT_NEAR(y[0], 5 * 0.75 * ln3 * 4, tolerance);
  EXPECT_NEAR(y[1], -1 * 0.75 * ln3 * 4, tolerance);
}

TEST(BalanceLoss, OfAUniformRouterIsOne) {
  EXPECT_NEAR(balance_loss(routed(2, true), {0, 0, 0, 0, 0}, {{0, {1}}, {1, {-3}}}), 1, tolerance);
}

TEST(BalanceLoss, OfARouterThatSendsAllToOneExpertIsTheirNumber) {
  EXPECT_NEAR(balance_loss(routed(1, true), {900, 0, 0, 0}, {{0, {1}}, {1, {2}}}), 4, tolerance);
}

TEST(BalanceLoss, IsExpertsTimesTheSumOfShareTimesMeanProbability) {
  // Rows 1 and 2 have probabilities (0.75, 0.25) and (0.9, 0.1): f = (1, 0), P = (0.825, 0.175).
  EXPECT_NEAR(balance_loss(routed(1, true), {ln3, 0}, {{0, {1}}, {1, {2}}}), 1.65, tolerance);
  // Both chosen by every row: f = (1/2, 1/2).
  EXPECT_NEAR(balance_loss(routed(2, true), {ln3, 0}, {{0, {1}}, {1, {2}}}), 1, tolerance);
}

TEST(BalanceLoss, OfNoRowsIsZero) { EXPECT_EQ(balance_loss(routed(1, true), {1, 2}, {}), 0); }

}  // namespace
}  // namespace onceover::reference
