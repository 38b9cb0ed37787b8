#include "weights/init.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include "architectures/presets.h"
#include "architectures/registry.h"
#include "support/fresh_seed.h"

namespace onceover {
namespace {

std::vector<float> fill(const std::string& name, Init init, uint64_t seed, int64_t elements) {
  std::vector<float> out(static_cast<size_t>(elements));
  initialise({.name = name, .shape = {elements}, .out_space = "", .in_space = "", .init = std::move(init)},
             seed, out);
  return out;
}

TEST(Initialise, GivesTheSameBitsOnEveryMachine) {
  const auto normal = fill("model.embed_tokens.weight", Init::normal(0.02), 17, 4);
  const auto uniform = fill("model.embed_tokens.weight", Init::uniform(1), 17, 2);
  std::vector<uint32_t> bits;
  for (float x : normal) bits.push_back(std::bit_cast<uint32_t>(x));
  for (float x : uniform) bits.push_back(std::bit_cast<uint32_t>(x));
  EXPECT_EQ(bits,
            (std::vector<uint32_t>{3161678755, 3173204013, 1017827626, 1014008887, 3205159207, 3212060369}));
}

TEST(Initialise, DependsOnSeedAndNameAndOnNothingElse) {
  const auto a = fill("a", Init::normal(1), 1, 100);
  EXPECT_EQ(a, fill("a", Init::normal(1), 1, 100));
  EXPECT_NE(a, fill("b", Init::normal(1), 1, 100));
  EXPECT_NE(a, fill("a", Init::normal(1), 2, 100));
  const auto longer = fill("a", Init::normal(1), 1, 200);
  EXPECT_TRUE(std::equal(a.begin(), a.end(), longer.begin()));
}

TEST(Initialise, DrawsFromTheNormalDistribution) {
  const uint64_t seed = fresh_seed();
  constexpr int n = 400'000;
  auto x = fill("w", Init::normal(1), seed, n);
  double m1 = 0, m2 = 0, m4 = 0;
  for (double v : x) m1 += v, m2 += v * v, m4 += v * v * v * v;
  // Five standard errors: 1/sqrt(n), sqrt(2/n), sqrt(96/n).
  EXPECT_NEAR(m1 / n, 0, 5 / std::sqrt(n));
  EXPECT_NEAR(m2 / n, 1, 5 * std::sqrt(2.0 / n));
  EXPECT_NEAR(m4 / n, 3, 5 * std::sqrt(96.0 / n));
  // Kolmogorov-Smirnov: the probability of more than 2.5 / sqrt(n) is 7e-6.
  std::sort(x.begin(), x.end());
  double worst = 0;
  for (int i = 0; i < n; i++) {
    worst = std::max(worst, std::abs(0.5 * std::erfc(-double{x[static_cast<size_t>(i)]} / std::sqrt(2.0)) -
                                     (i + 0.5) / n));
  }
  EXPECT_LT(worst, 2.5 / std::sqrt(n));
}

TEST(Initialise, GivesNeighbouringWeightsIndependentNumbers) {
  const uint64_t seed = fresh_seed();
  constexpr int n = 100'000;
  const auto a = fill("layers.0.w", Init::normal(1), seed, n),
             b = fill("layers.1.w", Init::normal(1), seed, n);
  double across = 0, along = 0;
  for (size_t i = 0; i + 1 < n; i++) across += double{a[i]} * b[i], along += double{a[i]} * a[i + 1];
  EXPECT_NEAR(across / n, 0, 5 / std::sqrt(n));
  EXPECT_NEAR(along / n, 0, 5 / std::sqrt(n));
}

TEST(NormalQuantile, InvertsTheNormalDistribution) {
  for (double p : {1e-15, 1e-11, 1e-9, 1e-6, 1e-3, 0.01, 0.0749, 0.0751, 0.2, 0.4, 0.5}) {
    const double x = normal_quantile(p);
    EXPECT_NEAR(0.5 * std::erfc(-x / std::sqrt(2.0)) / p, 1, 1e-6 + 2e-7 * x * x) << p;
    if (p > 1e-10) {
      EXPECT_NEAR(normal_quantile(1 - p), -x, 1e-5) << p;
    }
  }
  EXPECT_EQ(normal_quantile(0.5), 0);
}

TEST(Initialise, FollowsTheOtherRules) {
  EXPECT_EQ(fill("w", Init::constant(1), 5, 3), (std::vector<float>{1, 1, 1}));
  EXPECT_EQ(fill("w", Init::of({0, 0.25}), 5, 2), (std::vector<float>{0, 0.25F}));
  const auto uniform = fill("w", Init::uniform(0.5), 5, 10'000);
  const auto [low, high] = std::minmax_element(uniform.begin(), uniform.end());
  EXPECT_TRUE(*low >= -0.5F && *low < -0.49F && *high <= 0.5F && *high > 0.49F);
  EXPECT_THROW(fill("w", Init::of({0}), 5, 2), std::logic_error);
}

TEST(InitialWeights, FillsEveryWeightOfAPlan) {
  const Plan plan = build(*find_preset("yoco-u-tiny"));
  const auto weights = initial_weights(plan, 3);
  ASSERT_EQ(weights.size(), plan.weights.size());
  for (size_t i = 0; i < weights.size(); i++) {
    std::vector<float> alone(weights[i].size());
    initialise(plan.weights[i], 3, alone);
    EXPECT_EQ(weights[i], alone) << plan.weights[i].name;
  }
}

}  // namespace
}  // namespace onceover
