#include "base/new_folder.h"

#include "base/error.h"

namespace onceover {

NewFolder::NewFolder(const std::filesystem::path& folder) {
  std::error_code error;
  for (auto path = folder; !path.empty() && !std::filesystem::exists(path, error); path = path.parent_path())
    made_.push_back(path);
  std::filesystem::create_directories(folder, error);
  if (error) throw Error("{}: cannot be created: {}", folder.string(), error.message());
}

NewFolder::~NewFolder() {
  std::error_code not_empty;
  for (const auto& path : made_) std::filesystem::remove(path, not_empty);
}

}  // namespace onceover
