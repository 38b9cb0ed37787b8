// What became of a run, as its folder tells it.
//
//   run.json      {"run": NAME, "identity": 16 hex digits, "state": "training" | "done" | "failed", "reason"}
//   train.jsonl   its records (report/jsonl.h)
//
// The identity is a hash of all settings that decide the weights, the config, the data and the executor: a
// folder whose identity is another holds another run.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "compare/plan_runs.h"
#include "report/record.h"

namespace onceover {

enum class RunProgress { Waiting, Training, Done, Failed };

const char* progress_name(RunProgress progress);

struct RunOutcome {
  RunProgress progress = RunProgress::Waiting;
  std::string reason;           // of a failure
  std::vector<Record> records;  // so far

  // The last record that holds a validation; null when there is none.
  const Record* validated() const;
};

std::filesystem::path run_folder(const std::filesystem::path& comparison, const PlannedRun& run);

uint64_t run_identity(const PlannedRun& run, const TrainingJob& job, const std::string& executor);

// Error when the folder holds a run of another identity, a damaged file, or a run that is done without the
// records of all its steps.
RunOutcome read_outcome(const std::filesystem::path& folder, const PlannedRun& run, uint64_t identity);

void write_outcome(const std::filesystem::path& folder, const PlannedRun& run, uint64_t identity,
                   RunProgress progress, const std::string& reason);

}  // namespace onceover
