#include "cli/model_source.h"

#include <filesystem>

#include "architectures/presets.h"
#include "architectures/registry.h"
#include "base/error.h"
#include "base/program_folder.h"
#include "base/text.h"
#include "models/model_file.h"

namespace onceover {
namespace {

[[noreturn]] void refuse_name(const std::string& model) {
  for (const Architecture& architecture : all_architectures()) {
    if (model != architecture.name) continue;
    throw Error("'{}' is an architecture, not a model; add a size: {}-{}", model, model,
                fmt::join(preset_sizes(), ", -"));
  }
  throw Error("unknown model '{}'{} (neither a path nor a preset; `onceover explain --list` lists presets)",
              model, did_you_mean(model, preset_names()));
}

}  // namespace

Config find_model(const std::string& model) {
  std::error_code none;
  const std::filesystem::path path(model);
  if (std::filesystem::exists(path, none)) return read_model_config(path);
  if (model.find('/') != std::string::npos) throw Error("{}: no such file or directory", model);
  if (const auto preset = find_preset(model)) return *preset;
  refuse_name(model);
}

std::string default_model() {
  const std::filesystem::path directory = program_folder() / "models" / "default";
  if (!std::filesystem::exists(directory / "config.json"))
    throw Error("{}: not found; expected the model that comes with the program, or --model DIRECTORY",
                directory.string());
  return directory.string();
}

}  // namespace onceover
