// Trains the runs of a comparison one after another, each in a folder of its own.
//
// A run that is done is not trained again; one that was interrupted, or failed, goes on from its newest
// checkpoint. A run that fails (a loss that is not finite, say) is recorded with its reason and the others go
// on. Not thread-safe.
#pragma once
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "compare/outcome.h"
#include "compare/plan_runs.h"

namespace onceover {

// Any may be empty. `run` numbers plan.runs.
struct ComparisonHooks {
  std::function<void(size_t run, int64_t step, int64_t steps)> on_start;  // steps done before, and of all
  std::function<void(size_t run, int64_t step, double loss)> on_step;
  std::function<void(size_t run)> on_end;  // done, or failed
  std::function<void(std::string_view line)> notice;
  std::function<bool()> stop;  // asked after each step: true = save and leave
};

class ComparisonRunner {
 public:
  // Error when a folder holds a run that is not the planned one.
  ComparisonRunner(const ComparisonPlan& plan, const ComparisonTools& tools, std::filesystem::path folder);

  // Trains what is not done. False when stopped by the hook. Error when another process trains in the folder.
  bool train(const ComparisonHooks& hooks);

  // By the order of plan.runs.
  const std::vector<RunOutcome>& outcomes() const { return outcomes_; }

 private:
  TrainingJob job_of(const PlannedRun& run) const;
  bool train_run(size_t run, const ComparisonHooks& hooks);

  const ComparisonPlan& plan_;
  const ComparisonTools& tools_;
  std::filesystem::path folder_;
  std::vector<uint64_t> identities_;
  std::vector<RunOutcome> outcomes_;
};

}  // namespace onceover
