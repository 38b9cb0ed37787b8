#include "train/trainer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "analysis/cost.h"
#include "support/errors.h"
#include "train/bigram.h"
#include "train/schedule.h"
#include "train/step.h"

namespace onceover {
namespace {

using testing::BigramExecutor;

struct Trained {
  BigramExecutor executor;
  std::vector<Record> records;
  std::vector<std::string> notices;
  TrainingResult result;

  explicit Trained(const TrainSettings& settings, const TrainingJob& job = testing::bigram_job()) {
    Hooks hooks;
    hooks.on_record = [this](const Record& r) { records.push_back(r); };
    hooks.notice = [this](std::string_view line) { notices.emplace_back(line); };
    result = train(settings, job, executor, hooks);
  }
};

TEST(Training, LowersTheLoss) {
  TrainSettings s = testing::bigram_settings();
  s.schedule.steps = 200;
  const Trained run(s);
  ASSERT_EQ(run.records.size(), 200U);
  EXPECT_NEAR(run.records.front().loss, std::log(5), 0.15);
  EXPECT_LT(run.result.validation->loss, run.records.front().loss - 0.05);
}

TEST(Training, CountsTokensFlopsAndStepsInEveryRecord) {
  TrainSettings s = testing::bigram_settings();
  s.loops.sampling = LoopSampling::Fixed;
  const Trained run(s);
  const double per_token = training_flops_per_token(testing::bigram_plan(testing::bigram_loops), 8);
  ASSERT_EQ(run.records.size(), 20U);
  for (size_t i = 0; i < run.records.size(); i++) {
    const Record& r = run.records[i];
    const auto step = static_cast<int64_t>(i) + 1;
    EXPECT_EQ(r.step, step);
    EXPECT_EQ(r.tokens, 32 * step);
    EXPECT_DOUBLE_EQ(r.flops, per_token * 32 * static_cast<double>(step));
    EXPECT_EQ(r.learning_rate, learning_rate(s, step, 20));
    EXPECT_EQ(r.grad_norm, run.executor.norms[i]);
    EXPECT_EQ(r.memory_bytes, 4242);
    EXPECT_TRUE(std::isnan(r.mfu));
  }
  EXPECT_EQ(run.result.step, 20);
  EXPECT_EQ(run.result.tokens, 640);
  EXPECT_EQ(run.result.flops, run.records.back().flops);
  EXPECT_EQ(planned_flops(s, testing::bigram_job().model), per_token * 640);
}

TEST(Training, MeasuresSpeedOnTheClockItIsGiven) {
  TrainSettings s = testing::bigram_settings();
  s.run.log_every = 5;
  s.run.peak_gflops = 1e-9 * 1000;
  s.loops.sampling = LoopSampling::Fixed;
  const double per_token = training_flops_per_token(testing::bigram_plan(testing::bigram_loops), 8);
  double time = 100;
  Hooks hooks;
  hooks.clock = [&] { return time += 0.5; };
  std::vector<Record> records;
  hooks.on_record = [&](const Record& r) { records.push_back(r); };
  BigramExecutor executor;
  train(s, testing::bigram_job(), executor, hooks);
  ASSERT_EQ(records.size(), 4U);
  for (const Record& r : records) {
    EXPECT_DOUBLE_EQ(r.tokens_per_second, 32 / 0.5);  // a step lies between two looks at the clock
    EXPECT_DOUBLE_EQ(r.mfu, 32 * per_token / 0.5 / 1000);
  }
  EXPECT_GT(records[3].wall_seconds, records[2].wall_seconds);
}

TEST(Training, SamplesDepthsAndCountsTheirFlops) {
  const Trained run(testing::bigram_settings());
  std::vector<int> seen(testing::bigram_loops + 1);
  double flops = 0;
  for (const Record& r : run.records) {
    const int loops = static_cast<int>(r.extra.at("loops"));
    EXPECT_EQ(loops, sampled_loops(testing::bigram_settings(), r.step, testing::bigram_loops));
    seen.at(loops)++;
    flops += 32 * training_flops_per_token(testing::bigram_plan(loops), 8);
    EXPECT_DOUBLE_EQ(r.flops, flops);
  }
  EXPECT_GT(seen[1] * seen[2] * seen[3], 0);
}

// Splits of a step whose sequences have 11 and 101 scored tokens.
Trained unequal_run(int64_t micro_sequences) {
  TrainSettings s = testing::bigram_settings();
  s.data.sequence_length = 101;
  s.batch.tokens = 202;
  s.batch.micro_sequences = micro_sequences;
  s.schedule.steps = 3;
  TrainingJob job = testing::bigram_job();
  job.train = testing::bigram_text(100, [](int64_t i) { return i % 2 == 0 ? 11 : 101; });
  return Trained(s, job);
}

TEST(Accumulation, OfUnequalSequencesChangesNothing) {
  const Trained whole = unequal_run(2), split = unequal_run(1);
  EXPECT_EQ(whole.executor.batches.size(), 3U);
  EXPECT_EQ(split.executor.batches.size(), 6U);
  for (size_t i = 0; i < 3; i++) {
    EXPECT_EQ(whole.records[i].tokens, split.records[i].tokens);
    EXPECT_NEAR(whole.records[i].loss, split.records[i].loss, 1e-6);
    EXPECT_NEAR(whole.records[i].grad_norm, split.records[i].grad_norm, 1e-6);
  }
  const auto a = testing::all_numbers(whole.executor), b = testing::all_numbers(split.executor);
  for (size_t w = 0; w < a.size(); w++) {
    for (size_t i = 0; i < a[w].size(); i++) EXPECT_NEAR(a[w][i], b[w][i], 1e-6);
  }
}

// Losses of 2 nats on sequences with 10 scored tokens, 1 nat on others; a balance loss of 0.5 and of 0.25.
class FixedLossExecutor : public BigramExecutor {
 public:
  LossSum accumulate(const TokenBatch& batch, const Depth&, double loss_scale,
                     double balance_scale) override {
    int64_t tokens = 0;
    for (int32_t target : batch.targets) tokens += target >= 0;
    loss_scales.push_back(loss_scale);
    balance_scales.push_back(balance_scale);
    return {tokens == 10 ? 20.0 : 100.0, tokens, tokens == 10 ? 0.5 : 0.25};
  }
  std::vector<double> loss_scales, balance_scales;
};

TEST(Accumulation, WeighsTokensAndNotMicroBatches) {
  TrainSettings s = testing::bigram_settings();
  s.data.sequence_length = 100;
  s.batch.tokens = 200;
  s.batch.micro_sequences = 1;
  FixedLossExecutor executor;
  const auto text = testing::bigram_text(100, [](int64_t i) { return i == 0 ? 10 : 100; });
  const StepNumbers numbers = accumulate_step(s, text, 1, 0, {}, executor);
  EXPECT_NEAR(numbers.loss, 1.0909, 1e-4);  // the mean of means would be 1.5
  EXPECT_NEAR(numbers.balance, (0.5 * 10 + 0.25 * 100) / 110, 1e-12);
  for (double scale : executor.loss_scales) EXPECT_DOUBLE_EQ(scale, 1.0 / 110);
  EXPECT_DOUBLE_EQ(executor.balance_scales.at(0), 10.0 / 110);
  EXPECT_DOUBLE_EQ(executor.balance_scales.at(1), 100.0 / 110);
}

TEST(Accumulation, OfNothingScoredIsRefused) {
  BigramExecutor executor;
  const auto text = testing::bigram_text(100, [](int64_t) { return 0; });
  EXPECT_NE(error_of([&] {
              accumulate_step(testing::bigram_settings(), text, 7, 0, {}, executor);
            }).find("step 7: none of its tokens is scored"),
            std::string::npos);
}

TEST(Clipping, ScalesTheGradientToTheLargestNorm) {
  TrainSettings s = testing::bigram_settings();
  s.optimiser.clip = 0.1;
  const Trained run(s);
  bool clipped = false;
  for (size_t i = 0; i < run.executor.norms.size(); i++) {
    const double norm = run.executor.norms[i];
    EXPECT_DOUBLE_EQ(run.executor.scales[i], norm > 0.1 ? 0.1 / norm : 1);
    clipped = clipped || norm > 0.1;
  }
  EXPECT_TRUE(clipped);
  s.optimiser.clip = 0;
  for (double scale : Trained(s).executor.scales) EXPECT_EQ(scale, 1);
}

TEST(WeightDecay, LeavesOutNormsAndScalarsUnlessAskedFor) {
  std::vector<WeightSpec> weights(4);
  weights[0].shape = {8, 4};
  weights[1].shape = {4};
  weights[2].shape = {8, 4};
  weights[2].embedding = true;
  weights[3].shape = {2, 8, 4};
  TrainSettings s;
  EXPECT_EQ(decayed_weights(s, weights), (std::vector<bool>{true, false, true, true}));
  s.optimiser.decay_norms = true;
  s.optimiser.decay_embeddings = false;
  EXPECT_EQ(decayed_weights(s, weights), (std::vector<bool>{true, true, false, true}));
}

TEST(WeightDecay, ReachesTheExecutor) {
  TrainSettings s = testing::bigram_settings();
  s.optimiser.decay_embeddings = false;
  EXPECT_EQ(Trained(s).executor.decayed, (std::vector<bool>{false, true}));
}

TEST(Validation, CountsBitsOfTheTextsBytes) {
  TrainSettings s = testing::bigram_settings();
  s.validation.every = 8;
  const Trained run(s);
  for (const Record& r : run.records) {
    EXPECT_EQ(r.validation.has_value(), r.step % 8 == 0 || r.step == 20);
    if (!r.validation) continue;
    EXPECT_NEAR(r.validation->bits_per_byte, r.validation->loss / std::numbers::ln2 / 3.5, 1e-12);
  }
}

TEST(Validation, OfATaskHasNoBitsPerByte) {
  TrainingJob job = testing::bigram_job();
  job.validation->bytes_per_token = 0;
  const Trained run(testing::bigram_settings(), job);
  EXPECT_TRUE(std::isnan(run.records.back().validation->bits_per_byte));
  EXPECT_TRUE(std::isfinite(run.records.back().validation->loss));
}

// This executor does not count right answers.
TEST(Validation, MeasuresProbesBesideTheText) {
  TrainingJob job = testing::bigram_job();
  job.probes = {{"same", *job.validation}, {"short", testing::bigram_text(6, [](int64_t) { return 2; })}};
  const Trained run(testing::bigram_settings(), job);
  const Record& last = run.records.back();
  EXPECT_EQ(last.extra.at("same_loss"), last.validation->loss);
  EXPECT_NE(last.extra.at("short_loss"), last.validation->loss);
  EXPECT_FALSE(last.extra.contains("same_accuracy"));
  EXPECT_FALSE(last.extra.contains("validation_accuracy"));
  EXPECT_FALSE(run.records.front().extra.contains("same_loss"));
}

TEST(Validation, ReadsNoMoreThanThereIs) {
  TrainSettings s = testing::bigram_settings();
  BigramExecutor executor;
  int64_t read = 0;
  TokenSource text = testing::bigram_text(5);
  text.read = [&read, inner = text.read](int64_t i, std::span<int32_t> inputs, std::span<int32_t> targets) {
    EXPECT_LT(i, 5);
    read++;
    inner(i, inputs, targets);
  };
  measure(s, text, executor);
  EXPECT_EQ(read, 5);
  s.validation.batches = 2;
  read = 0;
  measure(s, text, executor);
  EXPECT_EQ(read, 4);
}

TEST(Validation, WithoutHeldOutTextIsRefusedWhenAskedFor) {
  TrainSettings s = testing::bigram_settings();
  s.validation.every = 1;
  TrainingJob job = testing::bigram_job();
  job.validation.reset();
  EXPECT_NE(error_of([&] { Trained(s, job); }).find("holds no held-out text"), std::string::npos);
}

TEST(EvaluateOnly, MeasuresTheWeightsThatTrainingWouldStartFrom) {
  const TrainSettings s = testing::bigram_settings();
  BigramExecutor executor;
  const Validation v = evaluate_only(s, testing::bigram_job(), executor);
  EXPECT_NEAR(v.loss, std::log(5), 0.15);
  EXPECT_TRUE(executor.batches.empty());
}

TEST(NonFiniteNumbers, StopTrainingAndNameStepAndWeight) {
  TrainSettings s = testing::bigram_settings();
  BigramExecutor executor;
  executor.poisoned_update = 4;
  const std::string message = error_of([&] { train(s, testing::bigram_job(), executor); });
  EXPECT_NE(message.find("step 5: the loss is nan"), std::string::npos) << message;
  EXPECT_NE(message.find("the first weight that is not finite is that of lm_head.weight"), std::string::npos)
      << message;
}

class ExplodingExecutor : public BigramExecutor {
 public:
  double gradient_norm() override { return std::numeric_limits<double>::infinity(); }
  void update(const AdamW&) override { ADD_FAILURE() << "an update after a gradient that is not finite"; }
};

TEST(NonFiniteNumbers, InTheGradientStopBeforeTheUpdate) {
  ExplodingExecutor executor;
  const std::string message =
      error_of([&] { train(testing::bigram_settings(), testing::bigram_job(), executor); });
  EXPECT_NE(message.find("step 1: the loss is 1."), std::string::npos) << message;
  EXPECT_NE(message.find("the gradient norm inf"), std::string::npos) << message;
}

TEST(FreshWeights, FollowTheSeed) {
  TrainSettings s = testing::bigram_settings();
  const auto numbers = [&](int64_t seed) {
    s.run.seed = seed;
    return testing::all_numbers(Trained(s).executor);
  };
  EXPECT_EQ(numbers(1), numbers(1));
  EXPECT_NE(numbers(1), numbers(2));
}

}  // namespace
}  // namespace onceover
