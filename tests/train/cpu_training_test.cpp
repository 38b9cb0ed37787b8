// The trainer on the real CPU executor, with looped models small enough for a test.
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "architectures/registry.h"
#include "cpu/trainer.h"
#include "support/errors.h"
#include "support/models.h"
#include "support/training.h"
#include "train/bigram.h"
#include "train/step.h"
#include "train/trainer.h"

namespace onceover {
namespace {

using testing::MemoryFolder;

TrainingJob job_of(const Config& config) {
  TrainingJob job = testing::bigram_job();
  job.model.config_json = "{}\n";
  job.model.loops = config.num_loops;
  job.model.plan = [config](int loops) { return std::make_shared<const Plan>(build(config, {loops})); };
  return job;
}

Config looped_config() {
  Config config = test::tiny_config("yoco-u");
  config.num_loops = 3;
  return config;
}

struct CpuRun {
  cpu::Trainer executor;
  TrainingResult result;

  explicit CpuRun(const TrainSettings& settings, int64_t last = 1 << 30,
                  const Config& config = looped_config())
      : executor([config](int loops) { return build(config, {loops}); }, {Recompute::None, 1}) {
    int64_t step = 0;
    Hooks hooks;
    hooks.on_step = [&](int64_t s, double) { step = s; };
    hooks.stop = [&] { return step >= last; };
    result = train(settings, job_of(config), executor, hooks);
  }
};

TEST(CpuTraining, ResumedGoesOnBitForBit) {
  const MemoryFolder straight, parts;
  const CpuRun whole(testing::bigram_settings(straight.path()));
  for (int64_t last : {4, 13, 20}) {
    const CpuRun part(testing::bigram_settings(parts.path()), last);
    ASSERT_EQ(part.result.step, last);
    if (last < 20) continue;
    EXPECT_EQ(testing::all_numbers(part.executor), testing::all_numbers(whole.executor));
  }
}

TEST(CpuTraining, LowersTheLoss) {
  TrainSettings s = testing::bigram_settings();
  s.schedule.steps = 1;
  s.optimiser.learning_rate = 0;
  const double before = CpuRun(s).result.validation->loss;
  s.schedule.steps = 60;
  s.optimiser.learning_rate = 5e-3;
  EXPECT_LT(CpuRun(s).result.validation->loss, before - 0.3);
}

TEST(CpuTraining, MeasuresTheShareOfRightAnswers) {
  TrainSettings s = testing::bigram_settings();
  const Config config = looped_config();
  cpu::Trainer executor([config](int loops) { return build(config, {loops}); }, {Recompute::None, 1});
  TrainingJob job = job_of(config);
  const TokenSource text = job.train;
  job.train.read = [text](int64_t i, std::span<int32_t> inputs, std::span<int32_t> targets) {
    text.read(i, inputs, targets);
    std::ranges::fill(targets, 3);
  };
  TokenSource half = job.train;  // every other answer is another one
  half.read = [text = job.train](int64_t i, std::span<int32_t> inputs, std::span<int32_t> targets) {
    text.read(i, inputs, targets);
    for (size_t j = 0; j < targets.size(); j += 2) targets[j] = 4;
  };
  s.schedule.steps = 40;
  s.optimiser.learning_rate = 1e-2;
  train(s, job, executor);
  EXPECT_EQ(measure(s, job.train, executor).accuracy, 1.0);
  EXPECT_EQ(measure(s, half, executor).accuracy, 0.5);
}

TEST(CpuTraining, SplitsAStepWithoutChangingIt) {
  TrainSettings s = testing::bigram_settings();
  s.schedule.steps = 3;
  s.optimiser.learning_rate = 1e-3;
  s.optimiser.epsilon =
      1e-4;  // else the sign of a gradient that is all rounding moves a weight by a whole step
  const CpuRun split(s);
  s.batch.micro_sequences = 4;
  const CpuRun whole(s);
  EXPECT_NEAR(*split.result.loss, *whole.result.loss, 1e-5);
  const auto a = testing::all_numbers(split.executor), b = testing::all_numbers(whole.executor);
  for (size_t w = 0; w < a.size(); w++) {
    for (size_t i = 0; i < a[w].size(); i++) ASSERT_NEAR(a[w][i], b[w][i], 1e-5);
  }
}

// Random tokens; every other sequence has 11 scored ones, the others all.
TokenSource unequal_text() {
  TokenSource text = testing::bigram_text(100);
  text.read = [](int64_t sequence, std::span<int32_t> inputs, std::span<int32_t> targets) {
    std::mt19937_64 random(static_cast<uint64_t>(sequence));
    for (size_t j = 0; j < inputs.size(); j++) {
      inputs[j] = static_cast<int32_t>(random() % 29);
      targets[j] = sequence % 2 == 1 || j < 11 ? static_cast<int32_t>(random() % 29) : -1;
    }
  };
  return text;
}

// Three steps, each of two sequences with 11 and 101 scored tokens, at once or one after the other.
struct UnequalRun {
  cpu::Trainer executor;
  std::vector<Record> records;

  explicit UnequalRun(int64_t micro_sequences)
      : executor([](int loops) { return build(looped_config(), {loops}); }, {Recompute::None, 1}) {
    TrainSettings s = testing::bigram_settings();
    s.data.sequence_length = 101;
    s.batch.tokens = 202;
    s.batch.micro_sequences = micro_sequences;
    s.optimiser.learning_rate = 1e-3;
    // Where a gradient is no more than its own rounding, so is its second moment, and AdamW's quotient of the
    // two is of any size below 1: with an epsilon of 1e-8 such weights differ by up to some 1e-6.
    s.optimiser.epsilon = 1e-6;
    s.schedule.steps = 3;
    s.schedule.warmup_steps = 0;
    TrainingJob job = job_of(looped_config());
    job.train = unequal_text();
    Hooks hooks;
    hooks.on_record = [this](const Record& r) { records.push_back(r); };
    train(s, job, executor, hooks);
  }
};

TEST(CpuTraining, WeighsTokensOfUnequalSequencesAlikeHoweverAStepIsSplit) {
  const UnequalRun whole(2), split(1);
  ASSERT_EQ(split.records.size(), 3U);
  for (size_t i = 0; i < 3; i++) {
    EXPECT_EQ(split.records[i].tokens, 112 * static_cast<int64_t>(i + 1));
    EXPECT_NEAR(split.records[i].loss, whole.records[i].loss, 1e-6 * whole.records[i].loss);
    EXPECT_NEAR(split.records[i].grad_norm, whole.records[i].grad_norm, 1e-6 * whole.records[i].grad_norm);
  }
  const auto weights = [](const UnequalRun& run) {
    return test::read_all(run.executor, TrainingExecutor::Tensor::Weight);
  };
  EXPECT_LT(test::relative_difference(weights(whole), weights(split)), 1e-6);
}

TEST(CpuTraining, RecordsTheHiddenStateOfEveryIterationBesideTheValidation) {
  TrainSettings s = testing::bigram_settings();
  const Config config = looped_config();
  cpu::Trainer executor([config](int loops) { return build(config, {loops}); }, {Recompute::None, 1});
  std::vector<Record> records;
  Hooks hooks;
  hooks.on_record = [&](const Record& record) { records.push_back(record); };
  train(s, job_of(config), executor, hooks);
  ASSERT_FALSE(records.empty());
  for (const Record& record : records) {
    EXPECT_EQ(record.extra.contains("loop_3_rms"), record.validation.has_value());
    EXPECT_FALSE(record.extra.contains("loop_4_rms"));
  }
  EXPECT_GT(records.back().extra.at("loop_3_rms"), 0);
}

TEST(CpuTraining, NamesTheFirstValueThatIsNotFinite) {
  const MemoryFolder folder;
  const CpuRun run(testing::bigram_settings(folder.path()), 5);
  const Config config = looped_config();
  cpu::Trainer executor([config](int loops) { return build(config, {loops}); }, {Recompute::None, 1});
  Hooks hooks;
  hooks.on_step = [&](int64_t, double) {
    auto values = executor.read(1, TrainingExecutor::Tensor::Weight);
    values[0] = std::numeric_limits<float>::infinity();
    executor.write(1, TrainingExecutor::Tensor::Weight, values);
  };
  const std::string message =
      error_of([&] { train(testing::bigram_settings(folder.path()), job_of(config), executor, hooks); });
  EXPECT_TRUE(contains(message, "step 7: the loss is ")) << message;
  EXPECT_TRUE(contains(message, executor.weights()[1].name)) << message;
  EXPECT_TRUE(contains(message, "the first value that is not finite is that of model.layers.0")) << message;
  EXPECT_TRUE(contains(message, "step_000005")) << message;
}

}  // namespace
}  // namespace onceover
