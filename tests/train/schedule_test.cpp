#include "train/schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/error.h"

namespace onceover {
namespace {

TrainSettings with_shape(ScheduleShape shape) {
  TrainSettings s;
  s.optimiser.learning_rate = 2;
  s.schedule.shape = shape;
  s.schedule.warmup_steps = 4;
  s.schedule.final_fraction = 0.25;
  return s;
}

TEST(Schedule, WarmsUpLinearlyToTheFullRate) {
  for (auto shape : {ScheduleShape::Cosine, ScheduleShape::Linear, ScheduleShape::Wsd}) {
    const TrainSettings s = with_shape(shape);
    EXPECT_DOUBLE_EQ(learning_rate(s, 1, 24), 0.5);
    EXPECT_DOUBLE_EQ(learning_rate(s, 3, 24), 1.5);
    EXPECT_DOUBLE_EQ(learning_rate(s, 4, 24), 2);
  }
}

TEST(Schedule, EveryShapeEndsAtTheFinalFraction) {
  for (auto shape : {ScheduleShape::Cosine, ScheduleShape::Linear, ScheduleShape::Wsd}) {
    EXPECT_NEAR(learning_rate(with_shape(shape), 24, 24), 0.5, 1e-12);
    EXPECT_NEAR(learning_rate(with_shape(shape), 30, 24), 0.5, 1e-12);
  }
}

TEST(Schedule, CosineAndLinearAreHalfWayInTheMiddle) {
  EXPECT_NEAR(learning_rate(with_shape(ScheduleShape::Cosine), 14, 24), 1.25, 1e-12);
  EXPECT_NEAR(learning_rate(with_shape(ScheduleShape::Linear), 14, 24), 1.25, 1e-12);
  const double quarter = 0.5 + 1.5 * 0.5 * (1 + std::cos(std::numbers::pi / 4));
  EXPECT_NEAR(learning_rate(with_shape(ScheduleShape::Cosine), 9, 24), quarter, 1e-12);
}

TEST(Schedule, WsdHoldsStillBetweenWarmUpAndDecay) {
  TrainSettings s = with_shape(ScheduleShape::Wsd);
  s.schedule.decay_fraction = 0.25;
  EXPECT_DOUBLE_EQ(learning_rate(s, 10, 24), 2);
  EXPECT_DOUBLE_EQ(learning_rate(s, 18, 24), 2);
  EXPECT_NEAR(learning_rate(s, 21, 24), 1.25, 1e-12);
  s.schedule.decay_fraction = 0;
  EXPECT_DOUBLE_EQ(learning_rate(s, 24, 24), 2);
}

TEST(Schedule, WarmUpLongerThanTheRunStaysBelowTheFullRate) {
  TrainSettings s = with_shape(ScheduleShape::Cosine);
  s.schedule.warmup_steps = 100;
  for (int64_t step = 1; step <= 10; step++) EXPECT_DOUBLE_EQ(learning_rate(s, step, 10), 0.02 * step);
}

TEST(SampledLoops, AreAllLoopsWhenFixed) {
  for (int64_t step = 1; step < 20; step++) EXPECT_EQ(sampled_loops(TrainSettings{}, step, 5), 5);
}

TEST(SampledLoops, FollowTheBinomialDistribution) {
  TrainSettings s;
  s.loops.sampling = LoopSampling::Binomial;
  s.loops.probability = 0.3;
  constexpr int most = 4, draws = 20000;
  std::vector<int> seen(most + 1);
  for (int64_t step = 1; step <= draws; step++) seen.at(sampled_loops(s, step, most))++;
  EXPECT_EQ(seen[0], 0);
  double sum = 0;
  for (int loops = 1; loops <= most; loops++) {
    const double p = loops_probability(s, loops, most);
    sum += p;
    const double deviation = std::sqrt(draws * p * (1 - p));
    EXPECT_NEAR(seen[loops], draws * p, 5 * deviation) << loops;
  }
  EXPECT_NEAR(sum, 1, 1e-12);
  EXPECT_NEAR(loops_probability(s, 2, most), 3 * 0.3 * 0.49, 1e-12);
}

TEST(SampledLoops, DependOnSeedAndStepAlone) {
  TrainSettings s;
  s.loops.sampling = LoopSampling::Binomial;
  const auto draw = [&](int64_t seed) {
    s.run.seed = seed;
    std::vector<int> all;
    for (int64_t step = 1; step <= 100; step++) all.push_back(sampled_loops(s, step, 8));
    return all;
  };
  EXPECT_EQ(draw(1), draw(1));
  EXPECT_NE(draw(1), draw(2));
}

TEST(SampledLoops, ReachBothEndsWithCertainty) {
  TrainSettings s;
  s.loops.sampling = LoopSampling::Binomial;
  for (const auto& [probability, loops] : {std::pair{0.0, 1}, {1.0, 6}}) {
    s.loops.probability = probability;
    EXPECT_EQ(sampled_loops(s, 3, 6), loops);
    EXPECT_DOUBLE_EQ(loops_probability(s, loops, 6), 1);
  }
}

TEST(Budget, OfTokensIsRoundedUpToWholeSteps) {
  TrainSettings s;
  s.batch.tokens = 100;
  const auto none = [](int) -> double { throw std::logic_error("asked for FLOPs"); };
  s.schedule.tokens = 1000;
  EXPECT_EQ(budgeted_steps(s, 1, none), 10);
  s.schedule.tokens = 1001;
  EXPECT_EQ(budgeted_steps(s, 1, none), 11);
  s.schedule.tokens = 1;
  EXPECT_EQ(budgeted_steps(s, 1, none), 1);
}

TEST(Budget, OfFlopsCountsSampledDepthsWithTheirExpectation) {
  TrainSettings s;
  s.batch.tokens = 10;
  s.schedule.flops = 1e6;
  const auto flops = [](int loops) { return 100.0 * loops; };
  EXPECT_EQ(budgeted_steps(s, 4, flops), 250);
  s.loops.sampling = LoopSampling::Binomial;
  s.loops.probability = 0.5;  // mean depth 1 + 3 / 2
  EXPECT_EQ(budgeted_steps(s, 4, flops), 400);
}

TEST(Budget, BeyondAllCountingIsRefused) {
  TrainSettings s;
  s.schedule.flops = 1e40;
  EXPECT_THROW(budgeted_steps(s, 1, [](int) { return 1.0; }), Error);
}

}  // namespace
}  // namespace onceover
