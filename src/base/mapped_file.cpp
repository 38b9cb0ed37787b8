#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "base/text.h"

namespace onceover {
namespace {

const char* kind_of(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFDIR:
      return "a directory";
    case S_IFIFO:
      return "a FIFO";
    case S_IFSOCK:
      return "a socket";
    case S_IFCHR:
    case S_IFBLK:
      return "a device";
    default:
      return "not a regular file";
  }
}

[[noreturn]] void fail(const std::filesystem::path& path) {
  throw Error("{}: cannot be read: {}", path.string(), std::strerror(errno));
}

void require_regular(const struct stat& status, const std::filesystem::path& path) {
  if (S_ISREG(status.st_mode)) return;
  throw Error("{}: expected a regular file, found {}", path.string(), kind_of(status.st_mode));
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) : path_(path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) fail(path);
  require_regular(status, path);
  // The path may have come to name something else since; O_NONBLOCK keeps a FIFO from blocking before the
  // second look.
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid() || fstat(file.get(), &status) != 0) fail(path);
  require_regular(status, path);
  size_ = static_cast<size_t>(status.st_size);
  if (size_ == 0) return;
  void* address = mmap(nullptr, size_, PROT_READ, MAP_SHARED, file.get(), 0);
  if (address == MAP_FAILED) fail(path);
  address_ = address;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      address_(std::exchange(other.address_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(address_, other.address_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (address_ != nullptr) munmap(address_, size_);
}

std::string read_text_file(const std::filesystem::path& path, size_t max_bytes) {
  const MappedFile file(path);
  if (file.size() > max_bytes) {
    throw Error("{}: is {}, expected at most {}", path.string(),
                format_bytes(static_cast<double>(file.size())), format_bytes(static_cast<double>(max_bytes)));
  }
  return std::string(file.text());
}

}  // namespace onceover
