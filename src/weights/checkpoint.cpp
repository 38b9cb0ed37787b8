#include "weights/checkpoint.h"

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/file_name.h"
#include "base/hash.h"
#include "base/hex.h"
#include "base/json.h"
#include "base/printable.h"

namespace onceover {
namespace {

constexpr int format_version = 1;
constexpr const char* config_name = "config.json";
constexpr const char* state_name = "state.json";
constexpr size_t max_config_bytes = size_t{16} << 20;
constexpr size_t max_state_bytes = size_t{64} << 20;

std::string hash_of(const MappedFile& file) { return to_hex(hash64(file.bytes())); }

nlohmann::json file_records(const std::filesystem::path& folder) {
  nlohmann::json records = nlohmann::json::object();
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const MappedFile file(entry.path());
    records[entry.path().filename().string()] = {{"bytes", file.size()}, {"xxh3", hash_of(file)}};
  }
  return records;
}

const nlohmann::json& field(const nlohmann::json& object, const char* key, nlohmann::json::value_t type,
                            const std::string& where) {
  const auto found = object.find(key);
  if (found != object.end() && found->type() == type) return *found;
  throw Error("{}: expected {} as '{}', found {}", where, nlohmann::json(type).type_name(), key,
              found == object.end() ? "nothing" : found->type_name());
}

}  // namespace

std::filesystem::path newest_checkpoint_in(const std::filesystem::path& directory) {
  const std::filesystem::path latest = directory / "latest";
  std::error_code none;
  if (std::filesystem::exists(directory / config_name, none) || !std::filesystem::exists(latest, none))
    return directory;
  constexpr size_t max_name_bytes = 256;
  std::string name = read_text_file(latest, max_name_bytes);
  if (name.ends_with('\n')) name.pop_back();
  require_plain_file_name(name, latest.string());
  return directory / name;
}

std::vector<std::filesystem::path> tokenizer_files_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const char* name : {"tokenizer.json", "tokenizer.model", "tokenizer_config.json",
                           "special_tokens_map.json", "chat_template.jinja"}) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(folder / name, ignored)) files.push_back(folder / name);
  }
  return files;
}

CheckpointWriter::CheckpointWriter(const std::filesystem::path& target, AtomicDirectory::Existing existing)
    : directory_(target, existing) {}

void CheckpointWriter::add_config(std::string_view json_text) {
  write_text_file(directory_.path() / config_name, json_text);
}

void CheckpointWriter::add_weights(const TensorMap& tensors, uint64_t max_shard_bytes) {
  // "format" is what transformers looks for in the files it loads.
  write_tensor_files(directory_.path(), tensors, max_shard_bytes, {{"format", "pt"}});
}

void CheckpointWriter::add_tensors(const std::string& file_name, const TensorMap& tensors) {
  write_safetensors(directory_.path() / file_name, tensors);
}

void CheckpointWriter::add_copy(const std::filesystem::path& file) {
  write_text_file(directory_.path() / file.filename(), MappedFile(file).text());
}

void CheckpointWriter::commit(uint64_t plan_fingerprint, const nlohmann::json& state) {
  const nlohmann::json record{{"format_version", format_version},
                              {"plan_fingerprint", to_hex(plan_fingerprint)},
                              {"files", file_records(directory_.path())},
                              {"state", state}};
  write_text_file(directory_.path() / state_name, record.dump(2) + "\n");
  directory_.commit();
}

Checkpoint::Checkpoint(const std::filesystem::path& directory)
    : directory_(newest_checkpoint_in(directory)),
      config_text_(read_text_file(directory_ / config_name, max_config_bytes)),
      weights_(directory_) {
  std::error_code ignored;
  has_state_ = std::filesystem::exists(directory_ / state_name, ignored);
  if (has_state_) read_state();
}

void Checkpoint::read_state() {
  using Type = nlohmann::json::value_t;
  const std::string where = (directory_ / state_name).string();
  const nlohmann::json record = parse_json(read_text_file(directory_ / state_name, max_state_bytes), where);
  const auto version = field(record, "format_version", Type::number_unsigned, where).get<uint64_t>();
  if (version != format_version) {
    throw Error("{}: checkpoint format version {}, this program reads {}", where, version, format_version);
  }
  fingerprint_ = field(record, "plan_fingerprint", Type::string, where);
  state_ = field(record, "state", Type::object, where);
  for (const auto& [name, file] : field(record, "files", Type::object, where).items()) {
    require_plain_file_name(name, where);
    files_[name] = {field(file, "bytes", Type::number_unsigned, where),
                    field(file, "xxh3", Type::string, where)};
  }
}

void Checkpoint::require_state() const {
  if (!has_state_)
    throw Error("{}: has no state.json, so it is not a training checkpoint", directory_.string());
}

void Checkpoint::require_plan(uint64_t fingerprint) const {
  require_state();
  if (fingerprint_ == to_hex(fingerprint)) return;
  throw Error("{}: was saved from another model: plan fingerprint {}, expected {}", directory_.string(),
              printable(fingerprint_), to_hex(fingerprint));
}

void Checkpoint::require_listed(const std::string& name) const {
  if (!files_.contains(name))
    throw Error("{}: lists no hash of {}", (directory_ / state_name).string(), printable(name));
}

size_t Checkpoint::verify() const {
  require_state();
  require_listed(config_name);
  for (const Safetensors& file : weights_.files()) require_listed(file.path().filename().string());
  for (const auto& [name, record] : files_) {
    const MappedFile file(directory_ / name);
    if (file.size() != record.bytes) {
      throw Error("{}: damaged: {} bytes, expected {}", file.path().string(), file.size(), record.bytes);
    }
    if (hash_of(file) != record.hash) {
      throw Error("{}: damaged: hash {}, expected {}", file.path().string(), hash_of(file),
                  printable(record.hash));
    }
  }
  return files_.size();
}

}  // namespace onceover
