// Whole runs of the trainer, the executor being libtorch's.
#include <gtest/gtest.h>

#include "architectures/registry.h"
#include "torch/support.h"
#include "train/bigram.h"
#include "train/trainer.h"

namespace onceover::test {
namespace {

using onceover::testing::MemoryFolder;

Config looped_config() {
  Config config = tiny_config("yoco-u");
  config.num_loops = 3;
  return config;
}

TrainingJob job_of(const Config& config) {
  TrainingJob job = onceover::testing::bigram_job();
  job.model.config_json = "{}\n";
  job.model.loops = config.num_loops;
  job.model.plan = [config](int loops) { return std::make_shared<const Plan>(build(config, {loops})); };
  return job;
}

struct CurveAndResult {
  std::vector<double> losses;  // by step
  TrainingResult result;
};

CurveAndResult run(TrainingExecutor& executor, const TrainSettings& settings, int64_t last = 1 << 30) {
  CurveAndResult run;
  int64_t step = 0;
  Hooks hooks;
  hooks.on_step = [&](int64_t s, double loss) { step = s, run.losses.push_back(loss); };
  hooks.stop = [&] { return step >= last; };
  run.result = train(settings, job_of(looped_config()), executor, hooks);
  return run;
}

PlanAtDepth plans() {
  return [config = looped_config()](int loops) { return build(config, {loops}); };
}

TEST(TorchTraining, HasTheLossCurveOfTheCpuExecutor) {
  TrainSettings settings = onceover::testing::bigram_settings();
  settings.optimiser.learning_rate = 3e-3;
  settings.optimiser.epsilon = 1e-6;
  settings.loops.gradient_loops = 2;
  const auto ours = cpu_trainer(plans(), {}), theirs = torch_trainer(plans(), {});
  const CurveAndResult a = run(*ours, settings), b = run(*theirs, settings);
  ASSERT_EQ(a.losses.size(), 20);
  ASSERT_EQ(b.losses.size(), 20);
  for (size_t i = 0; i < a.losses.size(); i++) EXPECT_NEAR(a.losses[i], b.losses[i], 1e-3 * a.losses[i]) << i;
  EXPECT_NEAR(a.result.validation->loss, b.result.validation->loss, 1e-3 * a.result.validation->loss);
  EXPECT_LT(b.losses.back(), b.losses.front());
}

TEST(TorchTraining, ResumedGoesOnBitForBit) {
  const MemoryFolder straight, parts;
  const auto whole = torch_trainer(plans(), {});
  run(*whole, onceover::testing::bigram_settings(straight.path()));
  run(*torch_trainer(plans(), {}), onceover::testing::bigram_settings(parts.path()), 8);
  const auto resumed = torch_trainer(plans(), {});
  ASSERT_EQ(run(*resumed, onceover::testing::bigram_settings(parts.path())).result.step, 20);
  EXPECT_EQ(onceover::testing::all_numbers(*resumed), onceover::testing::all_numbers(*whole));
}

}  // namespace
}  // namespace onceover::test
