// The machines that a model can run on, by name: what --executor and --device choose.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cpu/inference_weights.h"
#include "execution/engine.h"
#include "execution/training_executor.h"
#include "train/job.h"
#include "train/settings.h"

namespace onceover {

struct ExecutorChoice {
  std::string name = "cpu", device = "cpu";
  // Of inference on the cpu executor. "" = as the model's file holds them.
  std::string weights = {}, kv = "f32", max_kv = {};
  int threads = 0;  // of inference; 0 = one for each core
};

// The weights of a model for inference.
struct EngineWeights {
  std::function<std::vector<float>(WeightId)> read;  // the numbers of one
  // The narrowest format that holds them all exactly: f32, bf16 or f16; of a quantised checkpoint its format.
  std::string stored_format;
  std::shared_ptr<const cpu::InferenceWeights> packed;  // of a quantised checkpoint; read is then empty
};

// Declares --weights, --kv, --max-kv and --threads.
void add_inference_options(CLI::App& app, ExecutorChoice& choice);

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

std::unique_ptr<Engine> make_engine(const ExecutorChoice& choice, Plan plan, const EngineWeights& weights);

}  // namespace onceover
