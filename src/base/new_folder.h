// A folder for results, made with its parents if need be. What was made here and is still empty when the
// object goes is removed, so that a failure before the first file leaves nothing behind.
#pragma once
#include <filesystem>
#include <vector>

namespace onceover {

class NewFolder {
 public:
  // Error when it cannot be made.
  explicit NewFolder(const std::filesystem::path& folder);
  ~NewFolder();
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

 private:
  std::vector<std::filesystem::path> made_;  // the innermost first
};

}  // namespace onceover
