#include "train/run_folder.h"

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/hex.h"
#include "base/partial.h"

namespace onceover {
namespace {

constexpr const char* records_name = "train.jsonl";

// A checkpoint that is whole, but of another run. No older one can be right either.
class OtherRun : public Error {
 public:
  using Error::Error;
};

template <class T>
void require_same(const std::filesystem::path& directory, const char* what, const T& saved,
                  const T& expected) {
  if (saved == expected) return;
  throw OtherRun("{}: was saved with another {}: {}, now {}; going on would not be the same run",
                 directory.string(), what, saved, expected);
}

void require_same_run(const std::filesystem::path& directory, const RunState& saved,
                      const RunState& expected) {
  require_same(directory, "run.seed", saved.seed, expected.seed);
  require_same(directory, "data.seed", saved.data_seed, expected.data_seed);
  require_same(directory, "data.sequence_length", saved.sequence_length, expected.sequence_length);
  require_same(directory, "text or task (fingerprint of data.shards, or of [swaps])", saved.data_fingerprint,
               expected.data_fingerprint);
}

bool holds_something(const std::filesystem::path& file) {
  std::error_code none;
  const auto size = std::filesystem::file_size(file, none);
  return !none && size > 0;
}

}  // namespace

RunFolder::RunFolder(const TrainSettings& settings)
    : settings_(settings), folder_(settings.run.folder), made_(folder_) {
  lock_ = lock_folder(folder_, "training");
}

std::optional<RunState> RunFolder::resume(const RunState& expected, const Plan& plan,
                                          TrainingExecutor& executor, const Notice& notice) {
  const std::string& how = settings_.checkpoint.resume;
  const auto found = find_checkpoints(folder_);
  if (how == "auto") return resume_newest(expected, plan, executor, notice);
  if (how == "never") {
    if (found.empty() && !holds_something(folder_ / records_name)) return std::nullopt;
    throw Error("{}: holds a run already; expected a new folder, or checkpoint.resume = auto",
                folder_.string());
  }
  const RunState state = load(how, expected, plan, executor);
  if (!found.empty() && found.front().step > state.step) {
    throw Error(
        "{}: holds {}, which is later than {}; expected another run.folder, or checkpoint.resume = auto",
        folder_.string(), found.front().path.filename().string(), how);
  }
  return state;
}

RunState RunFolder::load(const std::filesystem::path& directory, const RunState& expected, const Plan& plan,
                         TrainingExecutor& executor) {
  const RunState saved = read_run_state(directory);
  require_same_run(directory, saved, expected);
  if (saved.plan_fingerprint != expected.plan_fingerprint) {
    throw OtherRun("{}: was saved from another model: plan fingerprint {}, now {}", directory.string(),
                   to_hex(saved.plan_fingerprint), to_hex(expected.plan_fingerprint));
  }
  load_checkpoint(directory, plan, executor);
  last_checkpoint_ = directory;
  return saved;
}

std::optional<RunState> RunFolder::resume_newest(const RunState& expected, const Plan& plan,
                                                 TrainingExecutor& executor, const Notice& notice) {
  const auto found = find_checkpoints(folder_);
  for (const auto& checkpoint : found) {
    try {
      return load(checkpoint.path, expected, plan, executor);
    } catch (const OtherRun&) {
      throw;
    } catch (const Error& error) {
      notice(fmt::format("passed over {}: {}", checkpoint.path.filename().string(), error.what()));
    }
  }
  if (found.empty()) return std::nullopt;
  throw Error("{}: none of its {} checkpoints is whole; expected another run.folder", folder_.string(),
              found.size());
}

void RunFolder::open_logs(int64_t step) {
  write_text_file(folder_ / "config.resolved.toml", train_settings_to_toml(settings_));
  const auto path = folder_ / records_name;
  records_.emplace(holds_something(path) ? JsonlWriter::resume(path.string(), step)
                                         : JsonlWriter::create(path.string()));
  if (!settings_.run.tensorboard) return;
  events_.emplace((folder_ / "tensorboard").string(), step > 0 ? std::optional(step) : std::nullopt);
}

void RunFolder::log(const Record& record) {
  records_->append(record);
  if (events_) events_->write(record);
}

void RunFolder::save(const RunState& state, const TrainedModel& model, const TrainingExecutor& executor) {
  records_->sync();
  save_checkpoint(folder_, state, model, executor);
  last_checkpoint_ = folder_ / checkpoint_name(state.step);
  remove_old_checkpoints(folder_, state.step, settings_.checkpoint.keep_last);
}

}  // namespace onceover
