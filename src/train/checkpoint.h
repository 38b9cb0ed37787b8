// A training run on disk, at one step: a checkpoint directory (weights/checkpoint.h) with the optimiser's
// moments and the place where the run stands.
//
//   optimizer.safetensors   first_moment.NAME and second_moment.NAME of every weight, f32
//   state.json "state"      the members of RunState by name, and "check": their xxh3, so that a damaged
//   number is found
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "execution/training_executor.h"
#include "train/job.h"

namespace onceover {

// Where a run stands after `step` steps. The last five say what it is: a resumed run must be the same.
struct RunState {
  int64_t step = 0;
  int64_t sequences = 0;  // read so far: the number of the next one
  int64_t tokens = 0;     // scored so far
  double flops = 0, wall_seconds = 0;
  int64_t seed = 0, data_seed = 0, sequence_length = 0;
  uint64_t data_fingerprint = 0, plan_fingerprint = 0;
};

// "step_000123".
std::string checkpoint_name(int64_t step);

struct FoundCheckpoint {
  int64_t step;
  std::filesystem::path path;
};

// The checkpoint directories of a run folder by their names, newest first. Says nothing about what is in
// them.
std::vector<FoundCheckpoint> find_checkpoints(const std::filesystem::path& run_folder);

// Writes run_folder/step_NNNNNN as a whole or not at all, then lets the file `latest` name it. Error when it
// cannot be written, or a number is not finite (naming the weight).
void save_checkpoint(const std::filesystem::path& run_folder, const RunState& state,
                     const TrainedModel& model, const TrainingExecutor& executor);

// Where the run stood. Error unless state.json is there and undamaged.
RunState read_run_state(const std::filesystem::path& directory);

// Reads weights and moments into the executor. Error, before the executor is touched, unless every file of
// the directory is there and undamaged and fits the plan.
void load_checkpoint(const std::filesystem::path& directory, const Plan& plan, TrainingExecutor& executor);

// Removes all but the `keep` newest checkpoints of steps up to `step`. Later ones are left: they are not
// older.
void remove_old_checkpoints(const std::filesystem::path& run_folder, int64_t step, int64_t keep);

}  // namespace onceover
