// The machines a run can train on, by name.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "execution/training_executor.h"
#include "train/job.h"
#include "train/settings.h"

namespace onceover {

std::vector<std::string> training_executor_names();

// Error for an unknown name, and for an executor that this build is without.
std::unique_ptr<TrainingExecutor> make_training_executor(const std::string& name, const TrainedModel& model,
                                                         const TrainSettings& settings);

// Bytes that it will plan for the deepest step of the run, without allocating them.
int64_t planned_training_bytes(const std::string& name, const TrainedModel& model,
                               const TrainSettings& settings);

}  // namespace onceover
