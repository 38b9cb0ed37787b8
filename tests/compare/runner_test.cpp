#include "compare/runner.h"

#include <gtest/gtest.h>

#include "compare/support.h"
#include "support/errors.h"
#include "support/temporary_folder.h"

namespace onceover {
namespace {

using testing::cpu_tools;

struct Comparison {
  Comparison(const std::filesystem::path& folder, const Recipe& recipe, const testing::Poison& poison = {})
      : tools(cpu_tools(poison)), plan(plan_comparison(recipe, tools)), runner(plan, tools, folder) {}

  // Trains until `steps` steps were taken; returns the runs that were started.
  std::vector<size_t> train(int64_t steps = 1 << 20) {
    std::vector<size_t> started;
    ComparisonHooks hooks;
    hooks.on_start = [&](size_t run, int64_t, int64_t) { started.push_back(run); };
    hooks.on_step = [&](size_t, int64_t, double) { steps--; };
    hooks.on_end = [&](size_t run) { ended.push_back(run); };
    hooks.stop = [&] { return steps <= 0; };
    finished = runner.train(hooks);
    return started;
  }

  ComparisonTools tools;
  ComparisonPlan plan;
  ComparisonRunner runner;
  std::vector<size_t> ended;
  bool finished = false;
};

double final_loss(const RunOutcome& outcome) { return outcome.validated()->validation->loss; }

TEST(ComparisonRunner, TrainsEveryRunOnce) {
  const TemporaryFolder folder;
  Comparison first(folder.path(), testing::small_recipe());
  EXPECT_EQ(first.train().size(), first.plan.runs.size());
  EXPECT_TRUE(first.finished);
  EXPECT_EQ(first.ended.size(), first.plan.runs.size());
  for (size_t run = 0; run < first.plan.runs.size(); run++) {
    const RunOutcome& outcome = first.runner.outcomes()[run];
    EXPECT_EQ(outcome.progress, RunProgress::Done);
    EXPECT_EQ(outcome.records.back().step, first.plan.runs[run].settings.schedule.steps);
    EXPECT_NEAR(outcome.records.back().flops / first.plan.runs[run].flops, 1, 1e-9);
    EXPECT_TRUE(outcome.records.back().extra.contains("swaps_8_accuracy"));
  }
  Comparison again(folder.path(), testing::small_recipe());
  EXPECT_TRUE(again.train().empty());
  EXPECT_TRUE(again.finished);
  EXPECT_EQ(final_loss(again.runner.outcomes()[2]), final_loss(first.runner.outcomes()[2]));
}

TEST(ComparisonRunner, TrainsInAFolderAlone) {
  const TemporaryFolder folder;
  Comparison first(folder.path(), testing::small_recipe());
  std::string refusal;
  ComparisonHooks hooks;
  hooks.stop = [&] {
    Comparison second(folder.path(), testing::small_recipe());
    refusal = error_of([&] { second.train(); });
    return true;
  };
  EXPECT_FALSE(first.runner.train(hooks));
  EXPECT_EQ(refusal, folder.path().string() + ": another process is comparing in this folder");
  EXPECT_FALSE(first.runner.outcomes()[0].progress == RunProgress::Failed);
}

TEST(ComparisonRunner, RefusesARunThatIsDoneWithoutItsRecords) {
  const TemporaryFolder folder;
  Comparison first(folder.path(), testing::small_recipe());
  first.train();
  const auto run = run_folder(folder.path(), first.plan.runs[1]);
  EXPECT_TRUE(std::filesystem::exists(run / "config.json"));
  std::filesystem::remove(run / "train.jsonl");
  EXPECT_TRUE(contains(error_of([&] { Comparison(folder.path(), testing::small_recipe()); }),
                       "records of a run of 6 steps that is done, found 0"));
}

TEST(ComparisonRunner, GoesOnWhereItWasInterrupted) {
  const TemporaryFolder whole_folder, folder;
  Comparison whole(whole_folder.path(), testing::small_recipe());
  whole.train();
  Comparison first(folder.path(), testing::small_recipe());
  EXPECT_EQ(first.train(8).size(), 2U);  // the second run has taken 2 of its 6 steps
  EXPECT_FALSE(first.finished);
  EXPECT_EQ(first.ended.size(), 1U);
  EXPECT_EQ(first.runner.outcomes()[1].progress, RunProgress::Training);
  EXPECT_EQ(first.runner.outcomes()[2].progress, RunProgress::Waiting);
  Comparison second(folder.path(), testing::small_recipe());
  std::vector<int64_t> before;
  ComparisonHooks hooks;
  hooks.on_start = [&](size_t, int64_t step, int64_t) { before.push_back(step); };
  EXPECT_TRUE(second.runner.train(hooks));
  EXPECT_EQ(before.size(), second.plan.runs.size() - 1);
  EXPECT_EQ(before[0], 2);
  for (size_t run = 0; run < whole.plan.runs.size(); run++)
    EXPECT_EQ(final_loss(second.runner.outcomes()[run]), final_loss(whole.runner.outcomes()[run]));
}

TEST(ComparisonRunner, RecordsAFailedRunAndGoesOn) {
  const TemporaryFolder folder;
  Comparison broken(folder.path(), testing::small_recipe(), {3, 2});
  broken.train();
  EXPECT_TRUE(broken.finished);
  EXPECT_EQ(broken.ended.size(), broken.plan.runs.size());
  for (size_t run = 0; run < broken.plan.runs.size(); run++) {
    const RunOutcome& outcome = broken.runner.outcomes()[run];
    const bool deep = broken.plan.models[broken.plan.runs[run].model].config.num_loops == 3;
    EXPECT_EQ(outcome.progress, deep ? RunProgress::Failed : RunProgress::Done);
    EXPECT_EQ(contains(outcome.reason, "step 3: the loss is nan"), deep) << outcome.reason;
  }
  Comparison mended(folder.path(), testing::small_recipe());
  mended.train();
  for (const RunOutcome& outcome : mended.runner.outcomes()) {
    EXPECT_EQ(outcome.progress, RunProgress::Done);
    EXPECT_EQ(outcome.reason, "");
  }
}

TEST(ComparisonRunner, RefusesAFolderOfOtherRuns) {
  const TemporaryFolder folder;
  Comparison(folder.path(), testing::small_recipe()).train(1);
  Recipe other = testing::small_recipe();
  other.base.optimiser.weight_decay = 0.2;
  EXPECT_TRUE(contains(error_of([&] { Comparison(folder.path(), other); }),
                       "holds a run of other settings, data, model or executor"));
  other = testing::small_recipe();
  other.base.swaps.places = 4;
  EXPECT_TRUE(contains(error_of([&] { Comparison(folder.path(), other); }), "other settings"));
  other = testing::small_recipe();
  other.base.run.log_every = 3;
  EXPECT_NO_THROW(Comparison(folder.path(), other));
}

TEST(ComparisonRunner, RefusesADamagedState) {
  const TemporaryFolder folder;
  Comparison first(folder.path(), testing::small_recipe());
  first.train(1);
  const auto file = run_folder(folder.path(), first.plan.runs[0]) / "run.json";
  std::string text = read_bytes(file);
  write_bytes(file, text.substr(0, text.size() / 2));
  EXPECT_TRUE(contains(error_of([&] { Comparison(folder.path(), testing::small_recipe()); }), "run.json"));
  text.replace(text.find("training"), 8, "sleeping");
  write_bytes(file, text);
  EXPECT_TRUE(contains(error_of([&] { Comparison(folder.path(), testing::small_recipe()); }),
                       "state must be training, done or failed, found 'sleeping'"));
}

}  // namespace
}  // namespace onceover
