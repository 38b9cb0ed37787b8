#include "report/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/error.h"

namespace onceover {
namespace {

[[noreturn]] void fail(const std::string& path, const char* action) {
  throw Error("{}: cannot {}: {}", path, action, std::strerror(errno));
}

void create_folder_of(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  if (folder.empty()) return;
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (code) throw Error("{}: cannot create its folder: {}", path, code.message());
}

// Returns false, with errno set, when not all could be written.
bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

AppendFile::AppendFile(const std::string& path, Mode mode) : path_(path) {
  if (mode == Mode::New) create_folder_of(path);
  fd_ = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | (mode == Mode::New ? O_CREAT : 0), 0644);
  if (fd_ < 0) fail(path, "open it for writing");
  struct stat status {};
  const bool regular = ::fstat(fd_, &status) == 0 && S_ISREG(status.st_mode);
  if (!regular || (mode == Mode::New && status.st_size != 0)) {
    ::close(fd_);
    if (!regular) throw Error("{}: expected a regular file", path);
    throw Error("{}: expected a new or empty file, found {} bytes", path, status.st_size);
  }
  size_bytes_ = status.st_size;
}

AppendFile::~AppendFile() {
  if (fd_ >= 0) ::close(fd_);
}

AppendFile::AppendFile(AppendFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)), size_bytes_(other.size_bytes_) {}

void AppendFile::append(std::string_view piece) {
  if (!write_all(fd_, piece)) {
    const int reason = errno;
    if (::ftruncate(fd_, size_bytes_) != 0) fail(path_, "write to it, nor undo the partial write");
    errno = reason;
    fail(path_, "write to it");
  }
  size_bytes_ += static_cast<int64_t>(piece.size());
}

void AppendFile::truncate(int64_t size_bytes) {
  if (::ftruncate(fd_, size_bytes) != 0) fail(path_, "shorten it");
  size_bytes_ = size_bytes;
}

void AppendFile::sync() {
  if (::fdatasync(fd_) != 0) fail(path_, "bring it to the disk");
}

void replace_file(const std::string& path, std::string_view content) {
  create_folder_of(path);
  const std::string partial = path + ".partial";
  const int fd = ::open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) fail(partial, "open it for writing");
  const bool complete = write_all(fd, content) && ::fsync(fd) == 0;
  const int reason = errno;
  ::close(fd);
  if (complete && ::rename(partial.c_str(), path.c_str()) == 0) return;
  if (!complete) errno = reason;
  const int failure = errno;
  ::unlink(partial.c_str());
  errno = failure;
  fail(path, "replace it");
}

}  // namespace onceover
