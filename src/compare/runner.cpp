#include "compare/runner.h"

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/partial.h"
#include "train/trainer.h"

namespace onceover {
namespace {

TrainSettings settings_in(const std::filesystem::path& folder, const PlannedRun& run) {
  TrainSettings settings = run.settings;
  settings.run.folder = folder.string();
  settings.model.config = (folder / "config.json").string();
  return settings;
}

}  // namespace

ComparisonRunner::ComparisonRunner(const ComparisonPlan& plan, const ComparisonTools& tools,
                                   std::filesystem::path folder)
    : plan_(plan), tools_(tools), folder_(std::move(folder)) {
  for (const PlannedRun& run : plan.runs) {
    identities_.push_back(run_identity(run, job_of(run), tools.executor));
    outcomes_.push_back(read_outcome(run_folder(folder_, run), run, identities_.back()));
  }
}

TrainingJob ComparisonRunner::job_of(const PlannedRun& run) const {
  const ComparedModel& model = plan_.models[run.model];
  return tools_.make_job(model.config, run.settings,
                         fmt::format("{}: model '{}'", plan_.recipe.where, model.name));
}

bool ComparisonRunner::train(const ComparisonHooks& hooks) {
  std::filesystem::create_directories(folder_);
  const FileDescriptor held = lock_folder(folder_, "comparing");
  for (size_t run = 0; run < plan_.runs.size(); run++) {
    if (outcomes_[run].progress == RunProgress::Done) continue;
    if (!train_run(run, hooks)) return false;
    if (hooks.on_end) hooks.on_end(run);
  }
  return true;
}

// False when stopped.
bool ComparisonRunner::train_run(size_t run, const ComparisonHooks& hooks) {
  const PlannedRun& planned = plan_.runs[run];
  const auto folder = run_folder(folder_, planned);
  std::filesystem::create_directories(folder);
  write_outcome(folder, planned, identities_[run], RunProgress::Training, "");
  Hooks inner;
  inner.notice = hooks.notice;
  inner.stop = hooks.stop;
  if (hooks.on_start) inner.on_start = [&](int64_t step, int64_t steps) { hooks.on_start(run, step, steps); };
  if (hooks.on_step) inner.on_step = [&](int64_t step, double loss) { hooks.on_step(run, step, loss); };
  bool stopped = false;
  RunProgress progress = RunProgress::Done;
  std::string reason;
  try {
    const TrainSettings settings = settings_in(folder, planned);
    const TrainingJob job = job_of(planned);
    write_text_file(settings.model.config, job.model.config_json);
    const auto executor = tools_.make_executor(job.model, settings);
    stopped = onceover::train(settings, job, *executor, inner).stopped;
    if (stopped) progress = RunProgress::Training;
  } catch (const std::exception& error) {
    progress = RunProgress::Failed;
    reason = error.what();
  }
  write_outcome(folder, planned, identities_[run], progress, reason);
  outcomes_[run] = read_outcome(folder, planned, identities_[run]);
  return !stopped;
}

}  // namespace onceover
