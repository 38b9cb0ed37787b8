#include "execution/torch_module.h"

#include <dlfcn.h>

#include <string_view>

#include "base/error.h"
#include "base/program_folder.h"

namespace onceover {
namespace {

constexpr const char* file_name = "libonceover_torch.so";
constexpr const char* function_name = "onceover_torch_module";

// Never unloaded: libtorch's threads and registries outlive their last user. Its libraries look for symbols
// among themselves first (RTLD_DEEPBIND): the program's SentencePiece carries an older protobuf under the
// same names.
void* open_module(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) {
    throw Error(
        "{}: not found; this build has no libtorch executor. Install libtorch-dev and build again, or "
        "configure "
        "with -DCMAKE_PREFIX_PATH=FOLDER of your own libtorch",
        file.string());
  }
  if (void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND)) return handle;
  throw Error("{}: cannot be loaded: {}", file.string(), dlerror());
}

}  // namespace

const TorchModule& load_torch_module(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / file_name;
  void* symbol = dlsym(open_module(file), function_name);
  if (!symbol) throw Error("{}: expected a function {}, found none", file.string(), function_name);
  const TorchModule& module = *reinterpret_cast<OnceoverTorchModule>(symbol)();
  if (std::string_view(module.version) != ONCEOVER_VERSION) {
    throw Error("{}: expected version {}, found {}; build both again", file.string(), ONCEOVER_VERSION,
                module.version);
  }
  return module;
}

const TorchModule& torch_module() {
  static const TorchModule& module = load_torch_module(program_folder());
  return module;
}

}  // namespace onceover
