#include "base/program_folder.h"

#include "base/error.h"

namespace onceover {

std::filesystem::path program_folder() {
  std::error_code failed;
  const std::filesystem::path file = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) throw Error("/proc/self/exe: {}", failed.message());
  return file.parent_path();
}

}  // namespace onceover
