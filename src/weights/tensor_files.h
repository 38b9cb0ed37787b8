// The tensors of a model on disk: one `model.safetensors`, or shards with `model.safetensors.index.json`.
//
// Index (Hugging Face): {"metadata": {"total_size": bytes of all tensors}, "weight_map": {tensor name: shard
// file name}}. A stale index is refused: a shard that is missing, a tensor that is not in its shard, a tensor
// in a shard that the index does not name there, another total_size. Shards are plain names in the index's
// own folder, so no path leads out of it.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weights/safetensors.h"

namespace onceover {

struct ShardIndex {
  std::map<std::string, std::string> shard_of;  // tensor name -> file name
  std::optional<uint64_t> total_size;           // bytes of all tensors; older writers leave it out
};

// Reads the text of an index from untrusted bytes. Error naming `where` and the key.
ShardIndex parse_shard_index(std::string_view json, const std::string& where);

// Open files with their tensors under one roof. Views live as long as this object. Concurrent reads are safe.
class TensorFiles {
 public:
  // A folder that holds one of the two layouts, a .safetensors file, or an index file. Error when a folder
  // holds neither or both.
  explicit TensorFiles(const std::filesystem::path& path);

  const TensorMap& tensors() const { return tensors_; }
  // The .safetensors files, in the order of their names.
  const std::vector<Safetensors>& files() const { return files_; }

 private:
  void open_shards(const std::filesystem::path& index_path);

  std::vector<Safetensors> files_;
  TensorMap tensors_;
};

// Writes `model.safetensors` into `folder`, or, when the tensors take more than `max_shard_bytes`, shards
// `model-00001-of-00003.safetensors` filled in the order of names, and their index (last). One tensor larger
// than the limit gets a shard of its own. Each file is atomic; for all of them together write into an
// AtomicDirectory.
void write_tensor_files(const std::filesystem::path& folder, const TensorMap& tensors,
                        uint64_t max_shard_bytes, const std::map<std::string, std::string>& metadata = {});

}  // namespace onceover
