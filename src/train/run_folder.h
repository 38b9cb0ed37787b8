// The folder of one run: its lock, its logs, its checkpoints, and where to go on.
//
//   config.resolved.toml   every setting of the latest start
//   train.jsonl            one record a line (report/jsonl.h)
//   tensorboard/           event files
//   step_NNNNNN/           checkpoints (train/checkpoint.h); `latest` names the newest
//
// Errors name the file and the reason. Not thread-safe.
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>

#include "base/file_descriptor.h"
#include "base/new_folder.h"
#include "report/jsonl.h"
#include "report/tensorboard.h"
#include "train/checkpoint.h"
#include "train/settings.h"

namespace onceover {

using Notice = std::function<void(std::string_view line)>;

class RunFolder {
 public:
  // Creates the folder if need be. Error when another process trains in it.
  explicit RunFolder(const TrainSettings& settings);

  // Loads what checkpoint.resume asks for; nothing when the run starts afresh. "auto" takes the newest whole
  // checkpoint and says which it passed over. `expected` holds what the run must be: its last five members.
  std::optional<RunState> resume(const RunState& expected, const Plan& plan, TrainingExecutor& executor,
                                 const Notice& notice);

  // Opens the logs, cutting off what they hold after `step`.
  void open_logs(int64_t step);
  void log(const Record& record);

  void save(const RunState& state, const TrainedModel& model, const TrainingExecutor& executor);

  // The path of the newest checkpoint saved or loaded; empty when there is none.
  const std::filesystem::path& last_checkpoint() const { return last_checkpoint_; }

 private:
  RunState load(const std::filesystem::path& directory, const RunState& expected, const Plan& plan,
                TrainingExecutor& executor);
  std::optional<RunState> resume_newest(const RunState& expected, const Plan& plan,
                                        TrainingExecutor& executor, const Notice& notice);

  TrainSettings settings_;
  std::filesystem::path folder_;
  NewFolder made_;
  FileDescriptor lock_;
  std::filesystem::path last_checkpoint_;
  std::optional<JsonlWriter> records_;
  std::optional<EventWriter> events_;
};

}  // namespace onceover
