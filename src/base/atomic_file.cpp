#include "base/atomic_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/partial.h"

namespace onceover {
namespace {

[[noreturn]] void fail(const std::filesystem::path& target) {
  throw Error("{}: cannot be written: {}", target.string(), std::strerror(errno));
}

// Holds SIGXFSZ back from this thread and swallows it, so that the write itself fails with EFBIG. The kernel
// sends it to the writing thread, so no handler of the whole process has to change.
class SizeLimitSignalHeld {
 public:
  SizeLimitSignalHeld() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  }
  ~SizeLimitSignalHeld() {
    const int write_error = errno;
    const timespec now{0, 0};
    if (sigismember(&before_, SIGXFSZ) == 0) sigtimedwait(&signals_, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = write_error;
  }
  SizeLimitSignalHeld(const SizeLimitSignalHeld&) = delete;
  SizeLimitSignalHeld& operator=(const SizeLimitSignalHeld&) = delete;

 private:
  sigset_t signals_{}, before_{};
};

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path target) : target_(std::move(target)) {
  struct stat status {};
  const bool exists = lstat(target_.c_str(), &status) == 0;
  if (target_.filename().empty() || (exists && !S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode))) {
    throw Error("{}: cannot be written: it is not a regular file", target_.string());
  }
  remove_abandoned_partials(target_);
  open_partial();
}

void AtomicFile::open_partial() {
  constexpr int attempts = 100;  // another writer may take a fresh partial for abandoned before it is locked
  for (int i = 0; i < attempts; i++) {
    const auto path = partial_path(target_);
    FileDescriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (!file.valid() && errno == EEXIST) continue;
    if (!file.valid()) fail(target_);
    struct stat status {};
    if (!lock_partial(file.get()) || fstat(file.get(), &status) != 0 || status.st_nlink == 0) continue;
    file_ = std::move(file);
    partial_ = path;
    return;
  }
  throw Error("{}: cannot be written: no temporary name is free beside it", target_.string());
}

AtomicFile::~AtomicFile() {
  if (!partial_.empty()) unlink(partial_.c_str());
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  const SizeLimitSignalHeld held;
  while (!bytes.empty()) {
    constexpr size_t largest = size_t{1} << 30;  // Linux writes at most 2 GiB a call
    const ssize_t written = ::write(file_.get(), bytes.data(), std::min(bytes.size(), largest));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(target_);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

void AtomicFile::write(std::string_view text) { write(std::as_bytes(std::span(text))); }

void AtomicFile::commit() {
  if (fsync(file_.get()) != 0) fail(target_);
  if (rename(partial_.c_str(), target_.c_str()) != 0) fail(target_);
  partial_.clear();
  if (file_.close() != 0) fail(target_);
  sync_folder(folder_of(target_));
}

void write_text_file(const std::filesystem::path& target, std::string_view text) {
  AtomicFile file(target);
  file.write(text);
  file.commit();
}

}  // namespace onceover
