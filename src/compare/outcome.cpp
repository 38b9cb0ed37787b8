#include "compare/outcome.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/hex.h"
#include "base/json.h"
#include "base/mapped_file.h"
#include "report/jsonl.h"

namespace onceover {
namespace {

constexpr const char* state_name = "run.json";

RunProgress progress_named(const std::string& name, const std::string& where) {
  for (const auto progress : {RunProgress::Training, RunProgress::Done, RunProgress::Failed}) {
    if (name == progress_name(progress)) return progress;
  }
  throw Error("{}: state must be training, done or failed, found '{}'", where, name);
}

std::string text_at(const nlohmann::json& json, const char* key, const std::string& where) {
  if (!json.is_object() || !json.contains(key) || !json[key].is_string())
    throw Error("{}: expected a string at '{}'", where, key);
  return json[key].get<std::string>();
}

}  // namespace

const char* progress_name(RunProgress progress) {
  switch (progress) {
    case RunProgress::Training:
      return "training";
    case RunProgress::Done:
      return "done";
    case RunProgress::Failed:
      return "failed";
    case RunProgress::Waiting:
      break;
  }
  return "waiting";
}

const Record* RunOutcome::validated() const {
  const auto last = std::find_if(records.rbegin(), records.rend(),
                                 [](const Record& r) { return r.validation.has_value(); });
  return last == records.rend() ? nullptr : &*last;
}

std::filesystem::path run_folder(const std::filesystem::path& comparison, const PlannedRun& run) {
  return comparison / "runs" / run.name;
}

uint64_t run_identity(const PlannedRun& run, const TrainingJob& job, const std::string& executor) {
  TrainSettings settings = run.settings;
  settings.run = {};  // what is kept where, and how fast
  settings.run.seed = run.settings.run.seed;
  settings.run.precision = run.settings.run.precision;
  settings.checkpoint = {};
  settings.data.shards = "";  // what they hold counts, wherever they lie
  const uint64_t held_out = job.validation ? job.validation->fingerprint : 0;
  const uint64_t data =
      hash64(train_settings_to_toml(settings), hash64(to_hex(held_out), job.train.fingerprint));
  return hash64(executor, hash64(job.model.config_json, data));
}

RunOutcome read_outcome(const std::filesystem::path& folder, const PlannedRun& run, uint64_t identity) {
  RunOutcome outcome;
  const auto file = folder / state_name;
  if (!std::filesystem::exists(file)) return outcome;
  constexpr size_t most_bytes = 1 << 20;
  const std::string where = file.string();
  const auto json = parse_json(read_text_file(file, most_bytes), where);
  const std::string found = text_at(json, "identity", where);
  if (found != to_hex(identity)) {
    throw Error(
        "{}: holds a run of other settings, data, model or executor ({}, now {}); expected another --out, or "
        "the folder removed",
        folder.string(), found, to_hex(identity));
  }
  outcome.progress = progress_named(text_at(json, "state", where), where);
  outcome.reason = text_at(json, "reason", where);
  const auto records = folder / "train.jsonl";
  if (std::filesystem::exists(records)) outcome.records = read_records(records.string());
  const int64_t recorded = outcome.records.empty() ? 0 : outcome.records.back().step;
  if (outcome.progress == RunProgress::Done && recorded != run.settings.schedule.steps) {
    throw Error(
        "{}: records of a run of {} steps that is done, found {}; the folder {} removed, it is trained again",
        records.string(), run.settings.schedule.steps, recorded, folder.string());
  }
  return outcome;
}

void write_outcome(const std::filesystem::path& folder, const PlannedRun& run, uint64_t identity,
                   RunProgress progress, const std::string& reason) {
  const nlohmann::ordered_json json = {{"run", run.name},
                                       {"identity", to_hex(identity)},
                                       {"state", progress_name(progress)},
                                       {"reason", reason}};
  const auto replace = nlohmann::ordered_json::error_handler_t::replace;
  write_text_file(folder / state_name, json.dump(2, ' ', false, replace) + "\n");
}

}  // namespace onceover
