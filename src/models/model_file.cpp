#include "models/model_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "architectures/huggingface_config.h"
#include "base/error.h"
#include "base/json.h"
#include "gguf/gguf_file.h"
#include "models/gguf_config.h"
#include "models/llama2c.h"
#include "models/weight_names.h"
#include "models/yoco_params.h"
#include "weights/bind.h"

namespace onceover {
namespace {

constexpr size_t max_config_bytes = size_t{1} << 20;
constexpr const char* params_name = "params.json";

using Tensors = std::map<std::string, StoredWeight>;

Tensors stored(const TensorMap& tensors) {
  Tensors all;
  for (const auto& [name, tensor] : tensors) all[name] = {tensor};
  return all;
}

Tensors stored(const GgufTensors& tensors) {
  Tensors all;
  for (const auto& [name, tensor] : tensors) all[std::string(name)] = {tensor};
  return all;
}

bool there(const std::filesystem::path& path) {
  std::error_code none;
  return std::filesystem::exists(path, none);
}

bool is_published_yoco(const std::filesystem::path& folder) {
  return !there(folder / "config.json") && there(folder / params_name);
}

bool starts_as_gguf(const std::filesystem::path& path) {
  std::error_code none;
  return std::filesystem::is_regular_file(path, none) && has_gguf_magic(MappedFile(path).bytes());
}

// How the tensors of a config.json's model are named.
Naming names_of(const std::string& config_text, const std::string& where, const Config& config) {
  const nlohmann::json json = parse_json(config_text, where);
  return is_huggingface_config(json) ? huggingface_names(json["model_type"], config) : Naming{};
}

bool same_bytes(const StoredWeight& a, const StoredWeight& b) {
  const auto bytes = [](const StoredWeight& w) {
    return std::visit([](const auto& tensor) { return tensor.bytes; }, w.tensor);
  };
  return a.type() == b.type() && a.shape() == b.shape() && std::ranges::equal(bytes(a), bytes(b));
}

bool same_numbers(const StoredWeight& a, const StoredWeight& b) {
  return same_bytes(a, b) || (a.shape() == b.shape() && a.numbers() == b.numbers());
}

// Formats that do not say whether the head is the embedding table tie it by leaving it out, or by writing it
// twice.
bool ties_head(const std::map<std::string, StoredWeight>& tensors, const char* table, const char* head) {
  const auto t = tensors.find(table), h = tensors.find(head);
  return h == tensors.end() || (t != tensors.end() && same_bytes(t->second, h->second));
}

Config yoco_config(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / params_name;
  return config_from_yoco_params(parse_json(read_text_file(path, max_config_bytes), path.string()),
                                 path.string());
}

}  // namespace

ModelFile::ModelFile(const std::filesystem::path& path) : path_(path) {
  std::error_code none;
  if (std::filesystem::is_directory(path, none)) {
    is_published_yoco(path) ? open_yoco() : open_checkpoint();
  } else {
    starts_as_gguf(path) ? open_gguf() : open_llama2c();
  }
}

void ModelFile::open_checkpoint() {
  kind_ = "checkpoint";
  checkpoint_ = std::make_shared<const Checkpoint>(path_);
  const std::string where = (checkpoint_->directory() / "config.json").string();
  config_ = config_from_text(checkpoint_->config_text(), where);
  const Naming naming = names_of(checkpoint_->config_text(), where, config_);
  weights_ = rename_tensors(naming, stored(checkpoint_->tensors()), path_.string());
}

void ModelFile::open_yoco() {
  kind_ = "YOCO checkpoint";
  const auto files = std::make_shared<const TensorFiles>(path_);
  file_ = files;
  config_ = yoco_config(path_);
  const Tensors tensors = stored(files->tensors());
  config_.tie_word_embeddings = ties_head(tensors, "embed_tokens.weight", "output_projection.weight");
  weights_ = rename_tensors(yoco_names(config_), tensors, path_.string());
}

void ModelFile::open_gguf() {
  kind_ = "GGUF";
  const auto file = std::make_shared<const GgufFile>(path_);
  file_ = file;
  config_ = config_from_gguf(file->contents(), path_.string());
  const Tensors tensors = stored(file->contents().tensors);
  config_.tie_word_embeddings = ties_head(tensors, "token_embd.weight", "output.weight");
  const Naming naming = gguf_names(config_, has_rotary_pairs_together(file->contents(), path_.string()));
  weights_ = rename_tensors(naming, tensors, path_.string());
}

void ModelFile::open_llama2c() {
  kind_ = "llama2.c";
  const auto file = std::make_shared<const MappedFile>(path_);
  file_ = file;
  Llama2c contents = parse_llama2c(file->bytes(), path_.string());
  config_ = std::move(contents.config);
  weights_ = std::move(contents.weights);
}

std::vector<const StoredWeight*> ModelFile::bind(const Plan& plan) const {
  if (checkpoint_ && checkpoint_->state().contains("packed"))
    throw Error("{}: its weights are packed for inference; use the model that it was made from",
                path_.string());
  WeightFiles files;
  for (const auto& [name, weight] : weights_)
    files[name] = {weight.shape(), std::string(weight.type()), weight.real()};
  require_fit(plan, files, path_.string());
  const std::string table = tied_table(plan);
  const auto head = weights_.find("lm_head.weight");
  if (!table.empty() && head != weights_.end() && !same_numbers(weights_.at(table), head->second))
    refuse_other_head(table, path_.string());
  std::vector<const StoredWeight*> bound;
  for (const WeightSpec& spec : plan.weights) bound.push_back(&weights_.at(spec.name));
  return bound;
}

std::vector<std::vector<float>> ModelFile::read(const Plan& plan) const {
  std::vector<std::vector<float>> numbers;
  for (const StoredWeight* weight : bind(plan)) numbers.push_back(weight->numbers());
  return numbers;
}

Config read_model_config(const std::filesystem::path& path) {
  std::error_code none;
  if (std::filesystem::is_directory(path, none)) {
    if (is_published_yoco(path)) return yoco_config(path);
    const std::filesystem::path config = newest_checkpoint_in(path) / "config.json";
    return config_from_text(read_text_file(config, max_config_bytes), config.string());
  }
  if (starts_as_gguf(path) || starts_as_llama2c(path)) return ModelFile(path).config();
  return config_from_text(read_text_file(path, max_config_bytes), path.string());
}

}  // namespace onceover
