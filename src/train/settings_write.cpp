#include <nlohmann/json.hpp>

#include "base/error.h"
#include "train/settings_fields.h"

namespace onceover {
namespace {

std::string toml_value(int64_t value) { return fmt::format("{}", value); }
std::string toml_value(bool value) { return value ? "true" : "false"; }

std::string toml_value(double value) {
  const std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

// A JSON string is a TOML basic string, but for the control character 0x7F.
std::string toml_value(const std::string& value) {
  std::string text = nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  for (size_t at; (at = text.find('\x7F')) != std::string::npos;) text.replace(at, 1, "\\u007F");
  return text;
}

template <class E>
requires std::is_enum_v<E> std::string toml_value(E value) {
  for (const auto& choice : named_values(value)) {
    if (choice.value == value) return toml_value(std::string(choice.name));
  }
  throw std::logic_error("an enum value without a name");
}

void require(bool holds, const std::string& where, const std::string& reason) {
  if (!holds) throw Error("{}: {}", where, reason);
}

}  // namespace

std::string train_settings_to_toml(const TrainSettings& settings) {
  std::string text, current;
  for_train_settings(settings, [&](const std::string& section, const char* key, const auto& member,
                                   const auto&, const char* meaning) {
    if (section != current) text += fmt::format("{}[{}]\n", current.empty() ? "" : "\n", section);
    current = section;
    text += fmt::format("{:<34} # {}\n", fmt::format("{} = {}", key, toml_value(member)), meaning);
  });
  return text;
}

void check_train_settings(const TrainSettings& s, const std::string& where) {
  require(s.model.config.empty() != s.model.init.empty(), where,
          "expected one of model.config and model.init");
  const bool text = s.data.task == DataTask::Text;
  require(!text || !s.data.shards.empty(), where, "data.shards is missing: a folder of token shards");
  require(text || s.data.shards.empty(), where, "expected one of data.shards and a data.task, found both");
  const int budgets = (s.schedule.steps > 0) + (s.schedule.tokens > 0) + (s.schedule.flops > 0);
  require(budgets == 1, where,
          fmt::format("expected one budget of schedule.steps, schedule.tokens and schedule.flops, found {}",
                      budgets));
  const int64_t micro_batch = s.data.sequence_length * s.batch.micro_sequences;
  require(s.batch.tokens % micro_batch == 0, where,
          fmt::format(
              "batch.tokens must be a multiple of {} (data.sequence_length {} x batch.micro_sequences {}), "
              "found {}",
              micro_batch, s.data.sequence_length, s.batch.micro_sequences, s.batch.tokens));
  require(s.checkpoint.every == 0 || !s.run.folder.empty(), where,
          "checkpoint.every needs run.folder, which is empty");
  require(!s.checkpoint.resume.empty(), where, "checkpoint.resume must be auto, never or a folder");
}

}  // namespace onceover
