// The trainer on the real CPU executor, with looped models small enough for a test.
#include <gtest/gtest.h>

#include <fstream>

#include "architectures/registry.h"
#include "cpu/trainer.h"
#include "support/errors.h"
#include "support/models.h"
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
