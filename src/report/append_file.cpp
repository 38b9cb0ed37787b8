#include "report/append_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

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
  const int create = mode == Mode::New ? O_CREAT : 0;
  file_ = FileDescriptor(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK | create, 0644));
  if (!file_.valid()) fail(path, "open it for writing");
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) fail(path, "look at it");
  if (!S_ISREG(status.st_mode)) throw Error("{}: expected a regular file", path);
  if (mode == Mode::New && status.st_size != 0) {
    throw Error("{}: expected a new or empty file, found {} bytes", path, status.st_size);
  }
  size_bytes_ = status.st_size;
}

void AppendFile::append(std::string_view piece) {
  if (!write_all(file_.get(), piece)) {
    const int reason = errno;
    if (::ftruncate(file_.get(), size_bytes_) != 0) fail(path_, "write to it, nor undo the partial write");
    errno = reason;
    fail(path_, "write to it");
  }
  size_bytes_ += static_cast<int64_t>(piece.size());
}

void AppendFile::truncate(int64_t size_bytes) {
  if (::ftruncate(file_.get(), size_bytes) != 0) fail(path_, "shorten it");
  size_bytes_ = size_bytes;
}

void AppendFile::sync() {
  if (::fdatasync(file_.get()) != 0) fail(path_, "bring it to the disk");
}

}  // namespace onceover
