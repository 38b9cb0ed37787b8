// The verb as a user runs it, on the recipe that the documentation uses.
#include <gtest/gtest.h>

#include "cli/program.h"
#include "support/errors.h"
#include "support/places.h"
#include "support/temporary_folder.h"

namespace onceover {
namespace {

const std::string recipe = (test::source_folder() / "configs" / "compare_tiny.toml").string();

TEST(Compare, TrainsARecipeAndWritesWhatItFound) {
  const TemporaryFolder folder;
  const std::vector<std::string> command = {"compare", recipe, "--out", folder.path().string()};
  const ProgramResult first = run_program(command);
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_TRUE(contains(first.out, "Equal FLOPs:\n\n| model | parameters | loops |")) << first.out;
  EXPECT_TRUE(contains(first.out, "| YOCO-U T=3 |")) << first.out;
  EXPECT_TRUE(contains(first.err, "run 10 of 10: yoco-u-t-3-10-steps-seed-2, 10 steps")) << first.err;
  EXPECT_TRUE(contains(read_bytes(folder / "report.html"), "A tiny comparison"));
  const std::string results = read_bytes(folder / "results.csv");
  EXPECT_TRUE(contains(results, "yoco-20-steps-seed-2,YOCO,")) << results;
  EXPECT_TRUE(contains(read_bytes(folder / "curves.csv"), "swaps_8_accuracy"));
  const ProgramResult again = run_program(command);
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(again.out, first.out);
  EXPECT_EQ(again.err, "");
  EXPECT_EQ(read_bytes(folder / "results.csv"), results);
}

TEST(Compare, ListsThePlannedRuns) {
  const ProgramResult result = run_program({"compare", recipe, "--dry-run", "--schedule.steps=40"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "yoco-u-t-3-40-steps-seed-1")) << result.out;
  EXPECT_TRUE(contains(result.out, "10 runs, ")) << result.out;
}

TEST(Compare, ExitsWithOneWhenARunFailed) {
  const TemporaryFolder folder;
  const ProgramResult result = run_program({"compare", recipe, "--out", folder.path().string(),
                                            "--schedule.steps=8", "--optimiser.learning_rate=1000",
                                            "--optimiser.weight_decay=1000", "--schedule.warmup_steps=0"});
  EXPECT_EQ(result.status, 1) << result.out;
  EXPECT_TRUE(contains(result.err, "runs failed: ")) << result.err;
  EXPECT_TRUE(contains(read_bytes(folder / "results.csv"), ",failed,")) << result.err;
}

TEST(Compare, RefusesFaultyUse) {
  EXPECT_EQ(run_program({"compare"}).status, 2);
  const ProgramResult nowhere = run_program({"compare", recipe});
  EXPECT_EQ(nowhere.status, 2);
  EXPECT_TRUE(contains(nowhere.err, "compare needs --out"));
  EXPECT_EQ(run_program({"compare", recipe, "more", "--dry-run"}).status, 2);
  EXPECT_TRUE(contains(run_program({"compare", recipe, "--dry-run", "--schedule.step=1"}).err,
                       "did you mean 'schedule.steps'?"));
  EXPECT_TRUE(contains(run_program({"compare", recipe, "--dry-run", "--executor", "cpuu"}).err,
                       "did you mean 'cpu'?"));
}

}  // namespace
}  // namespace onceover
