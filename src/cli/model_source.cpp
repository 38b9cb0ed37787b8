#include "cli/model_source.h"

#include <filesystem>
#include <fstream>

#include "architectures/presets.h"
#include "architectures/registry.h"
#include "base/error.h"
#include "base/text.h"

namespace onceover {
namespace {

constexpr std::streamsize max_config_bytes = 1 << 20;

Config read_config(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error("{}: cannot be read", path.string());
  std::string text(max_config_bytes + 1, '\0');
  file.read(text.data(), max_config_bytes + 1);
  if (file.gcount() > max_config_bytes) throw Error("{}: a config.json over 1 MiB is refused", path.string());
  text.resize(file.gcount());
  return config_from_text(text, path.string());
}

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
  if (std::filesystem::is_directory(path, none)) return read_config(path / "config.json");
  if (std::filesystem::exists(path, none)) return read_config(path);
  if (model.find('/') != std::string::npos) throw Error("{}: no such file or directory", model);
  if (const auto preset = find_preset(model)) return *preset;
  refuse_name(model);
}

}  // namespace onceover
