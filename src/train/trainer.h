// The training loop: batches in a fixed order, accumulated steps, schedules, validation, records and
// checkpoints.
//
// A run that was stopped, however, and resumed gives the same weights, bit for bit, as one that was not, on
// the same executor. One thread; the executor may use more.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "execution/training_executor.h"
#include "report/record.h"
#include "train/job.h"
#include "train/settings.h"

namespace onceover {

// What the caller hears and says while training. Any may be empty.
struct Hooks {
  std::function<void(int64_t step, int64_t steps)> on_start;  // before the first step: done so far, of all
  std::function<void(int64_t step, double loss)> on_step;
  std::function<void(const Record&)> on_record;
  std::function<void(std::string_view line)> notice;  // one line for people
  std::function<bool()> stop;                         // asked after each step: true = save and leave
  std::function<double()> clock;                      // seconds, never falling; empty = the system's
};

struct TrainingResult {
  int64_t step = 0, steps = 0;           // done, and planned
  int64_t tokens = 0;                    // trained on since the start of the run
  double flops = 0;                      // spent since the start of the run
  std::optional<double> loss;            // of the last step; none when there was none to do
  std::optional<Validation> validation;  // the last measured
  bool stopped = false;                  // by Hooks::stop
  std::string checkpoint;                // the newest; empty without a run folder
};

// Trains until the budget is spent. Weights begin as the job says, or fresh by run.seed. The executor must be
// new. Error for settings that do not fit, a folder that cannot be used, a full disk, and a loss or gradient
// that is not finite (naming step, depth and the first weight concerned); the last checkpoint is whole in
// every case.
TrainingResult train(const TrainSettings& settings, const TrainingJob& job, TrainingExecutor& executor,
                     const Hooks& hooks = {});

// Validates the weights that `train` would start from, without a step.
Validation evaluate_only(const TrainSettings& settings, const TrainingJob& job, TrainingExecutor& executor,
                         const Hooks& hooks = {});

// Steps of the whole run, as `train` counts them.
int64_t planned_steps(const TrainSettings& settings, const TrainedModel& model);

// Expected FLOPs of the whole run.
double planned_flops(const TrainSettings& settings, const TrainedModel& model);

}  // namespace onceover
