// The checkpoint directory: a model on disk, in Hugging Face's layout, plus what training needs.
// docs/checkpoint-format.md.
//
//   config.json                    the architecture; opaque here
//   model.safetensors              or shards with model.safetensors.index.json
//   tokenizer.json, …              copied as they are
//   optimizer.safetensors, …       further tensor files, when the writer adds them
//   state.json                     format version, plan fingerprint, size and hash of every file, free JSON;
//   written last
//
// The folder of a training run stands for its newest checkpoint, the one that its file `latest` names.
// A directory without state.json is a model from elsewhere: its weights load, but nothing vouches for them.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic_directory.h"
#include "weights/tensor_files.h"

namespace onceover {

// The tokenizer's files that `folder` holds, in a fixed order.
std::vector<std::filesystem::path> tokenizer_files_in(const std::filesystem::path& folder);

// The folder that `directory` stands for: itself, or of a training run the newest checkpoint.
std::filesystem::path newest_checkpoint_in(const std::filesystem::path& directory);

// Writes one checkpoint. Nothing is seen under the directory's name before commit() has returned; without it,
// after an Error or a kill, the name holds what it held before. Errors name the file and the reason. One
// thread per object.
class CheckpointWriter {
 public:
  CheckpointWriter(const std::filesystem::path& target, AtomicDirectory::Existing existing);

  void add_config(std::string_view json_text);
  void add_weights(const TensorMap& tensors, uint64_t max_shard_bytes = default_shard_bytes);
  void add_tensors(const std::string& file_name, const TensorMap& tensors);
  void add_copy(const std::filesystem::path& file);
  // The folder that is being written, for files that others write: a tokeniser's.
  const std::filesystem::path& folder() const { return directory_.path(); }
  // `state` is the caller's own: step, seeds, position in the data.
  void commit(uint64_t plan_fingerprint, const nlohmann::json& state);

  static constexpr uint64_t default_shard_bytes = 5'000'000'000;  // as Hugging Face

 private:
  AtomicDirectory directory_;
};

// An open checkpoint. Views live as long as this object. Concurrent reads are safe.
class Checkpoint {
 public:
  // Error when config.json or the weights are missing or damaged, or state.json is not of this format
  // version.
  explicit Checkpoint(const std::filesystem::path& directory);

  const std::filesystem::path& directory() const { return directory_; }  // of config.json
  const std::string& config_text() const { return config_text_; }
  const TensorMap& tensors() const { return weights_.tensors(); }
  std::vector<std::filesystem::path> tokenizer_files() const { return tokenizer_files_in(directory_); }
  // The writer's `state`; an empty object in a model from elsewhere.
  const nlohmann::json& state() const { return state_; }

  bool has_state() const { return has_state_; }

  // Error unless this was saved from a plan of that fingerprint.
  void require_plan(uint64_t fingerprint) const;

  // Reads every file that state.json lists and returns their number. Error at the first that is missing or
  // has another size or hash, when config.json or a file of the weights is not listed, and in a model from
  // elsewhere.
  size_t verify() const;

 private:
  struct FileRecord {
    uint64_t bytes;
    std::string hash;
  };

  void read_state();
  void require_state() const;
  void require_listed(const std::string& name) const;

  std::filesystem::path directory_;
  std::string config_text_;
  TensorFiles weights_;
  bool has_state_ = false;
  nlohmann::json state_ = nlohmann::json::object();
  std::string fingerprint_;
  std::map<std::string, FileRecord> files_;
};

}  // namespace onceover
