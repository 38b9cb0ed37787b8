// The machines that a model can run on, by name: what --executor and --device choose.
#pragma once
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "execution/engine.h"
#include "execution/training_executor.h"
#include "train/job.h"
#include "train/settings.h"

namespace onceover {

struct ExecutorChoice {
  std::string name = "cpu", device = "cpu";
};

// Declares --executor and --device.
void add_executor_options(CLI::App& app, ExecutorChoice& choice);

// All: Error for an unknown name, an executor that this build is without, and a device or precision that the
// executor has not.
std::unique_ptr<TrainingExecutor> make_training_executor(const ExecutorChoice& choice,
                                                         const TrainedModel& model,
                                                         const TrainSettings& settings);

// Bytes that it will plan for the deepest step of the run, without allocating them.
int64_t planned_training_bytes(const ExecutorChoice& choice, const TrainedModel& model,
                               const TrainSettings& settings);

// `weights` by WeightId.
std::unique_ptr<Engine> make_engine(const ExecutorChoice& choice, Plan plan,
                                    std::vector<std::vector<float>> weights);

}  // namespace onceover
