#include "base/partial.h"

#include <fcntl.h>
#include <sys/file.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/error.h"

namespace onceover {
namespace {

std::string partial_prefix(const std::filesystem::path& target) {
  return fmt::format(".{}.partial-", target.filename().string());
}

}  // namespace

std::filesystem::path folder_of(const std::filesystem::path& target) {
  const auto folder = target.parent_path();
  return folder.empty() ? "." : folder;
}

std::filesystem::path partial_path(const std::filesystem::path& target) {
  static std::atomic<unsigned> counter = 0;
  return folder_of(target) / fmt::format("{}{}-{}", partial_prefix(target), getpid(), counter++);
}

bool lock_partial(int file_descriptor) {
  return flock(file_descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

FileDescriptor lock_folder(const std::filesystem::path& folder, const char* doing) {
  FileDescriptor held(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!held.valid()) throw Error("{}: cannot be opened: {}", folder.string(), std::strerror(errno));
  if (!lock_partial(held.get()))
    throw Error("{}: another process is {} in this folder", folder.string(), doing);
  return held;
}

void remove_abandoned_partials(const std::filesystem::path& target) {
  const std::string prefix = partial_prefix(target);
  std::vector<std::filesystem::path> partials;
  std::error_code ignored;
  for (std::filesystem::directory_iterator entry(folder_of(target), ignored), end; !ignored && entry != end;
       entry.increment(ignored)) {
    if (entry->path().filename().string().starts_with(prefix)) partials.push_back(entry->path());
  }
  for (const auto& partial : partials) {
    const FileDescriptor file(open(partial.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
    if (file.valid() && flock(file.get(), LOCK_EX | LOCK_NB) == 0)
      std::filesystem::remove_all(partial, ignored);
  }
}

void sync_folder(const std::filesystem::path& folder) {
  const FileDescriptor file(open(folder.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY));
  if (!file.valid() || fsync(file.get()) != 0) {
    throw Error("{}: folder cannot be written to disk: {}", folder.string(), std::strerror(errno));
  }
}

}  // namespace onceover
