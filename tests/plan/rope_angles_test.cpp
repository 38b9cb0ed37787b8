// Rotary frequencies against numbers from the published formulas, computed apart from this project.
#include "plan/rope_angles.h"

#include <gtest/gtest.h>

#include <cmath>

namespace onceover {
namespace {

void expect_frequencies(const RopeAngles& angles, int64_t head_dim, const std::vector<double>& expected) {
  const std::vector<double> found = rope_frequencies(angles, head_dim);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t j = 0; j < found.size(); j++) EXPECT_NEAR(found[j], expected[j], 1e-11 * expected[j]) << j;
}

TEST(RopeAngles, FallFromOneByPowersOfTheta) {
  expect_frequencies({.theta = 10000}, 8, {1, 0.1, 0.01, 0.001});
  expect_frequencies({.theta = 10000, .dims = 4}, 8, {1, 0.01});
}

TEST(RopeAngles, LinspaceEndsAtOneOverTheta) {
  expect_frequencies({.theta = 10000, .linspace = true}, 8, {1, 0.0464158883361, 0.00215443469003, 0.0001});
  expect_frequencies({.theta = 10000, .linspace = true}, 2, {1});
}

TEST(RopeAngles, LinearScalingDividesEveryFrequency) {
  expect_frequencies({.scaling = {.kind = RopeScaling::Kind::Linear, .factor = 4}}, 8,
                     {0.25, 0.025, 0.0025, 0.00025});
}

TEST(RopeAngles, Llama3KeepsShortWavesAndDividesLongOnes) {
  const RopeAngles angles{
      .theta = 500000, .scaling = {.kind = RopeScaling::Kind::Llama3, .factor = 8, .original_length = 8192}};
  expect_frequencies(angles, 16,
                     {1, 0.193922744749, 0.0376060309309, 0.00729266473722, 0.000524846160993,
                      3.42810219595e-05, 6.64786987118e-06, 1.28917317215e-06});
}

TEST(RopeAngles, YarnRampsByTurnsInTheOriginalLength) {
  const RopeAngles angles{.scaling = {.kind = RopeScaling::Kind::Yarn, .factor = 4, .original_length = 4096}};
  expect_frequencies(
      angles, 16,
      {1, 0.316227766017, 0.1, 0.0256935059889, 0.00625, 0.00138349647632, 0.00025, 7.90569415042e-05});
  EXPECT_NEAR(yarn_magnitude(4), 1 + 0.1 * std::log(4.0), 1e-15);
  EXPECT_EQ(yarn_magnitude(1), 1);
}

}  // namespace
}  // namespace onceover
