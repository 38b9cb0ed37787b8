#include "weights/tensor_files.h"

#include <nlohmann/json.hpp>
#include <set>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/file_name.h"
#include "base/json.h"
#include "base/printable.h"

namespace onceover {
namespace {

constexpr const char* single_name = "model.safetensors";
constexpr const char* pickle_name = "pytorch_model.bin";
constexpr const char* index_name = "model.safetensors.index.json";
constexpr size_t max_index_bytes = size_t{32} << 20;  // 300 thousand tensors

const char* what_else(const nlohmann::json& json) {
  if (json.contains("model_type") || json.contains("hidden_size"))
    return " (this looks like a model's config.json; its directory can be inspected)";
  if (json.contains("added_tokens") && json.contains("model"))
    return " (this looks like a tokenizer.json; onceover tokenize reads it)";
  return "";
}

std::map<std::string, std::string> read_weight_map(const nlohmann::json& index, const std::string& where) {
  const auto found = index.find("weight_map");
  if (found == index.end() || !found->is_object()) {
    throw Error("{}: expected an object as weight_map{}", where, what_else(index));
  }
  std::map<std::string, std::string> shard_of;
  for (const auto& [tensor, shard] : found->items()) {
    if (!shard.is_string())
      throw Error("{}: tensor '{}': expected a string as shard", where, printable(tensor));
    require_plain_file_name(shard.get_ref<const std::string&>(), where);
    shard_of[tensor] = shard;
  }
  return shard_of;
}

std::optional<uint64_t> read_total_size(const nlohmann::json& index, const std::string& where) {
  const auto metadata = index.find("metadata");
  if (metadata == index.end()) return std::nullopt;
  if (!metadata->is_object()) throw Error("{}: expected an object as metadata", where);
  const auto total = metadata->find("total_size");
  if (total == metadata->end()) return std::nullopt;
  if (!total->is_number_unsigned()) throw Error("{}: expected a non-negative integer as total_size", where);
  return total->get<uint64_t>();
}

void require_fresh(const Safetensors& shard, const ShardIndex& index, const std::string& where) {
  const std::string file = shard.path().filename().string();
  for (const auto& [name, tensor] : shard.tensors()) {
    const auto named = index.shard_of.find(name);
    if (named == index.shard_of.end() || named->second != file) {
      throw Error("{}: stale index: tensor '{}' is in {}, but the index {}", where, printable(name),
                  printable(file),
                  named == index.shard_of.end() ? "does not name it"
                                                : fmt::format("places it in {}", printable(named->second)));
    }
  }
}

uint64_t bytes_of(const TensorMap& tensors) {
  uint64_t bytes = 0;
  for (const auto& [name, tensor] : tensors) bytes += tensor.bytes.size();
  return bytes;
}

std::vector<TensorMap> split(const TensorMap& tensors, uint64_t max_shard_bytes) {
  std::vector<TensorMap> shards;
  uint64_t filled = 0;
  for (const auto& [name, tensor] : tensors) {
    if (shards.empty() || (filled > 0 && filled + tensor.bytes.size() > max_shard_bytes)) {
      shards.emplace_back();
      filled = 0;
    }
    filled += tensor.bytes.size();
    shards.back()[name] = tensor;
  }
  return shards;
}

// In a folder, the one of the two layouts that it holds; else the path itself.
std::filesystem::path file_to_open(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) return path;
  const bool single = std::filesystem::exists(path / single_name, ignored);
  const bool sharded = std::filesystem::exists(path / index_name, ignored);
  if (single == sharded) {
    const bool pickled = std::filesystem::exists(path / pickle_name, ignored);
    throw Error("{}: expected {} or {}, found {}{}", path.string(), single_name, index_name,
                single ? "both" : "neither",
                pickled ? " but pytorch_model.bin, a pickle: convert it to safetensors" : "");
  }
  return path / (single ? single_name : index_name);
}

void write_shards(const std::filesystem::path& folder, const std::vector<TensorMap>& shards,
                  uint64_t total_size, const std::map<std::string, std::string>& metadata) {
  nlohmann::json weight_map = nlohmann::json::object();
  for (size_t i = 0; i < shards.size(); i++) {
    const std::string name = fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, shards.size());
    write_safetensors(folder / name, shards[i], metadata);
    for (const auto& [tensor, view] : shards[i]) weight_map[tensor] = name;
  }
  const nlohmann::json index{{"metadata", {{"total_size", total_size}}},
                             {"weight_map", std::move(weight_map)}};
  write_text_file(folder / index_name, index.dump(2) + "\n");
}

}  // namespace

ShardIndex parse_shard_index(std::string_view json, const std::string& where) {
  const nlohmann::json index = parse_json(json, where);
  if (!index.is_object()) throw Error("{}: expected a JSON object", where);
  ShardIndex read{read_weight_map(index, where), read_total_size(index, where)};
  if (read.shard_of.empty()) throw Error("{}: weight_map names no tensor", where);
  return read;
}

TensorFiles::TensorFiles(const std::filesystem::path& path) {
  const std::filesystem::path file = file_to_open(path);
  if (file.extension() == ".json") {
    open_shards(file);
  } else {
    files_.emplace_back(file);
    tensors_ = files_[0].tensors();
  }
}

void TensorFiles::open_shards(const std::filesystem::path& index_path) {
  const std::string where = index_path.string();
  const ShardIndex index = parse_shard_index(read_text_file(index_path, max_index_bytes), where);
  std::set<std::string> shards;
  for (const auto& [tensor, shard] : index.shard_of) shards.insert(shard);
  for (const auto& shard : shards) {
    files_.emplace_back(index_path.parent_path() / shard);
    require_fresh(files_.back(), index, where);
    tensors_.insert(files_.back().tensors().begin(), files_.back().tensors().end());
  }
  for (const auto& [tensor, shard] : index.shard_of) {
    if (tensors_.contains(tensor)) continue;
    throw Error("{}: stale index: tensor '{}' is not in {}", where, printable(tensor), printable(shard));
  }
  const uint64_t total = bytes_of(tensors_);
  if (index.total_size && *index.total_size != total) {
    throw Error("{}: stale index: total_size is {}, but the tensors take {} bytes", where, *index.total_size,
                total);
  }
}

void write_tensor_files(const std::filesystem::path& folder, const TensorMap& tensors,
                        uint64_t max_shard_bytes, const std::map<std::string, std::string>& metadata) {
  const uint64_t total = bytes_of(tensors);
  if (total <= max_shard_bytes) return write_safetensors(folder / single_name, tensors, metadata);
  write_shards(folder, split(tensors, max_shard_bytes), total, metadata);
}

}  // namespace onceover
