#include "compare/outcome.h"

#include <gtest/gtest.h>

namespace onceover {
namespace {

TEST(RunIdentity, KnowsDataByContentAndNotByPath) {
  PlannedRun run;
  run.settings.data.shards = "here";
  TrainingJob job;
  job.train.fingerprint = 1;
  job.validation.emplace().fingerprint = 2;
  const uint64_t identity = run_identity(run, job, "cpu");
  run.settings.data.shards = "there";
  EXPECT_EQ(run_identity(run, job, "cpu"), identity);
  job.validation->fingerprint = 3;
  EXPECT_NE(run_identity(run, job, "cpu"), identity);
  job.validation->fingerprint = 2;
  job.train.fingerprint = 3;
  EXPECT_NE(run_identity(run, job, "cpu"), identity);
}

}  // namespace
}  // namespace onceover
