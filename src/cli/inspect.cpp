// `onceover inspect`: what a file or directory of tensors holds, and whether it is whole.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "architectures/registry.h"
#include "base/error.h"
#include "base/hex.h"
#include "base/mapped_file.h"
#include "base/printable.h"
#include "base/sniff.h"
#include "base/text.h"
#include "cli/inspect_gguf.h"
#include "cli/quantised_checkpoint.h"
#include "cli/verbs.h"
#include "models/llama2c.h"
#include "models/model_file.h"
#include "weights/checkpoint.h"

namespace onceover {
namespace {

struct InspectOptions {
  std::string path;
  bool json = false, verify = false;
};

struct Contents {
  std::string kind;
  TensorMap tensors;
  std::map<std::string, std::string> metadata;
  nlohmann::ordered_json model;  // null for tensors without a config.json
  size_t verified_files;
};

nlohmann::ordered_json model_of(const ModelFile& file) {
  const Plan plan = build(file.config());
  const Checkpoint* checkpoint = file.checkpoint();
  if (checkpoint != nullptr && is_quantised(*checkpoint)) {
    open_quantised(checkpoint, plan, {});
  } else {
    file.bind(plan);
  }
  if (checkpoint != nullptr && checkpoint->has_state()) checkpoint->require_plan(plan.fingerprint());
  return {{"architecture", file.config().architecture}, {"fingerprint", to_hex(plan.fingerprint())}};
}

bool is_model_folder(const std::filesystem::path& path) {
  std::error_code none;
  for (const char* name : {"config.json", "state.json", "latest", "params.json"}) {
    if (std::filesystem::exists(path / name, none)) return true;
  }
  return false;
}

// Tensors as plans name them, where the file has no names of its own.
TensorMap tensors_of(const ModelFile& file) {
  TensorMap tensors;
  for (const auto& [name, weight] : file.weights()) {
    if (const auto* view = std::get_if<TensorView>(&weight.tensor)) tensors[name] = *view;
  }
  return tensors;
}

// A file under another name than a safetensors file's or an index's, and with other first bytes, is none.
void require_tensors(const std::filesystem::path& path) {
  std::error_code none;
  if (std::filesystem::is_directory(path, none)) return;
  const std::string extension = path.extension().string();
  if (extension == ".safetensors" || extension == ".json") return;
  const MappedFile file(path);
  if (describe_bytes(file.bytes()) == "a safetensors file") return;
  throw Error(
      "{}: expected a .safetensors or .gguf file, a shard index, a .bin of llama2.c (its first format) or a "
      "checkpoint directory, found {}",
      path.string(), describe_file(file.bytes()));
}

template <class Show>
void with_contents(const InspectOptions& options, Show show) {
  const std::filesystem::path path = options.path;
  if (is_model_folder(path)) {
    const ModelFile file(path);
    const Checkpoint* checkpoint = file.checkpoint();
    if (options.verify && checkpoint == nullptr)
      throw Error("{}: has no state.json with hashes", path.string());
    const size_t verified = options.verify ? checkpoint->verify() : 0;
    show({file.kind(),
          checkpoint != nullptr ? checkpoint->tensors() : tensors_of(file),
          {},
          model_of(file),
          verified});
    return;
  }
  if (options.verify)
    throw Error("{}: --verify needs a checkpoint directory: nothing else carries hashes", path.string());
  if (starts_as_llama2c(path)) {
    const ModelFile file(path);
    show({file.kind(), tensors_of(file), {}, model_of(file), 0});
    return;
  }
  require_tensors(path);
  const TensorFiles files(path);
  const bool one = files.files().size() == 1;
  show({"tensors", files.tensors(), one ? files.files().front().metadata() : decltype(Contents::metadata){},
        nullptr, 0});
}

void print_json(const Contents& contents) {
  nlohmann::ordered_json json{{"kind", contents.kind},
                              {"model", contents.model},
                              {"verified_files", contents.verified_files},
                              {"metadata", contents.metadata}};
  json["tensors"] = nlohmann::ordered_json::array();
  for (const auto& [name, tensor] : contents.tensors) {
    json["tensors"].push_back({{"name", name},
                               {"dtype", dtype_name(tensor.dtype)},
                               {"shape", tensor.shape},
                               {"bytes", tensor.bytes.size()}});
  }
  fmt::print("{}\n", json.dump(2));
}

void print_text(const Contents& contents) {
  std::vector<std::vector<std::string>> rows = {{"tensor", "dtype", "shape", "bytes"}};
  double elements = 0, bytes = 0;
  for (const auto& [name, tensor] : contents.tensors) {
    rows.push_back({printable(name), std::string(dtype_name(tensor.dtype)), shape_text(tensor.shape),
                    std::to_string(tensor.bytes.size())});
    elements += static_cast<double>(tensor.elements());
    bytes += static_cast<double>(tensor.bytes.size());
  }
  fmt::print("{}", format_table(rows));
  for (const auto& [key, value] : contents.metadata)
    fmt::print("metadata {} = {}\n", printable(key), printable(value));
  if (!contents.model.is_null()) {
    fmt::print("architecture {}, plan {}: every weight is there, nothing else is\n",
               contents.model["architecture"].get<std::string>(),
               contents.model["fingerprint"].get<std::string>());
  }
  if (contents.verified_files > 0) fmt::print("{} files, every hash matches\n", contents.verified_files);
  fmt::print("{} tensors, {} elements, {}\n", contents.tensors.size(), format_count(elements),
             format_bytes(bytes));
}

void inspect(const InspectOptions& options) {
  if (!options.verify && is_gguf(options.path)) return inspect_gguf(options.path, options.json);
  with_contents(
      options, [&](const Contents& contents) { options.json ? print_json(contents) : print_text(contents); });
}

}  // namespace

Action inspect_verb(CLI::App& app) {
  auto options = std::make_shared<InspectOptions>();
  app.add_option("path", options->path,
                 "a .safetensors or .gguf file, a shard index, a .bin of llama2.c, or a checkpoint directory")
      ->type_name("PATH")
      ->required();
  app.add_flag("--json", options->json, "print for programs");
  app.add_flag("--verify", options->verify, "read every file of a checkpoint and compare its hash");
  return [options] { inspect(*options); };
}

}  // namespace onceover
