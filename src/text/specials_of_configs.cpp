#include "text/specials_of_configs.h"

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/mapped_file.h"

namespace onceover {
namespace {

constexpr size_t max_config_bytes = size_t{16} << 20;

nlohmann::json read_object(const std::filesystem::path& file) {
  std::error_code unreadable;
  if (!std::filesystem::exists(file, unreadable)) return nlohmann::json::object();
  nlohmann::json json = parse_json(read_text_file(file, max_config_bytes), file.string());
  return json.is_object() ? json : nlohmann::json::object();
}

// The ids below `vocab_size` of a number or a list.
std::vector<int> ids_of(const nlohmann::json& json, const char* key, int vocab_size) {
  std::vector<int> ids;
  const nlohmann::json value = json.value(key, nlohmann::json());
  for (const auto& one : value.is_array() ? value : nlohmann::json::array({value})) {
    if (one.is_number_unsigned() && one.get<uint64_t>() < static_cast<uint64_t>(vocab_size))
      ids.push_back(one.get<int>());
  }
  return ids;
}

}  // namespace

void add_specials_of_configs(const std::filesystem::path& directory, int vocab_size,
                             SpecialTokens& specials) {
  for (const char* name : {"generation_config.json", "config.json"}) {
    const nlohmann::json json = read_object(directory / name);
    const auto bos = ids_of(json, "bos_token_id", vocab_size), eos = ids_of(json, "eos_token_id", vocab_size);
    if (!specials.bos && !bos.empty()) specials.bos = bos[0];
    if (!specials.eos && !eos.empty()) specials.eos = eos[0];
    if (specials.ends.empty()) specials.ends = eos;
  }
}

bool adds_bos_by_config(const std::filesystem::path& directory) {
  const nlohmann::json json = read_object(directory / "tokenizer_config.json");
  const nlohmann::json value = json.value("add_bos_token", nlohmann::json());
  return !value.is_boolean() || value.get<bool>();
}

}  // namespace onceover
