// A temporary folder that tests fill by name.
#pragma once
#include "support/temporary_folder.h"

namespace onceover {

class Folder : public TemporaryFolder {
 public:
  std::filesystem::path write(std::string_view name, std::string_view bytes) const {
    const auto file = *this / name;
    std::filesystem::create_directories(file.parent_path());
    write_bytes(file, bytes);
    return file;
  }

  std::string read(std::string_view name) const { return read_bytes(*this / name); }
};

}  // namespace onceover
