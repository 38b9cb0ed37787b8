// A model on disk, whatever wrote it: its config and its weights under the names of our plans.
//
//   a folder with config.json    Hugging Face's layout, ours (weights/checkpoint.h) or another's; also a
//   training run's a folder with params.json    YOCO as its authors publish it, as safetensors a .gguf file
//   gguf/gguf_file.h a llama2.c .bin file         the first of its formats, f32 (llama2c.h)
// docs/imported-models.md says which architectures, and what is refused. Files are mapped, and weights read
// when they are asked for. Views live as long as the object. Concurrent reads are safe.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "architectures/config.h"
#include "models/stored_weight.h"
#include "plan/plan.h"
#include "weights/checkpoint.h"

namespace onceover {

class ModelFile {
 public:
  // Error naming the file and what is wrong with it, or which feature of it is not supported.
  explicit ModelFile(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  const Config& config() const { return config_; }
  // "checkpoint", "YOCO checkpoint", "GGUF", "llama2.c".
  const std::string& kind() const { return kind_; }
  const StoredWeights& weights() const { return weights_; }
  // The checkpoint that this is; null for the other kinds.
  const Checkpoint* checkpoint() const { return checkpoint_.get(); }

  // The weights of a plan of this config, at any depth, by WeightId. Error naming all faults together when
  // they do not fit the plan one for one (weights/bind.h).
  std::vector<const StoredWeight*> bind(const Plan& plan) const;

  // Their numbers.
  std::vector<std::vector<float>> read(const Plan& plan) const;

 private:
  void open_checkpoint();
  void open_yoco();
  void open_gguf();
  void open_llama2c();

  std::filesystem::path path_;
  std::string kind_;
  std::shared_ptr<const void> file_;  // what the views look into
  std::shared_ptr<const Checkpoint> checkpoint_;
  Config config_;
  StoredWeights weights_;
};

// The config alone: also of a folder without weights, and of a config.json.
Config read_model_config(const std::filesystem::path& path);

}  // namespace onceover
