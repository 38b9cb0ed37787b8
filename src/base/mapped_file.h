// A file as read-only memory.
//
// Only regular files are mapped: a folder, FIFO, socket or device is an Error and is never opened, so nothing
// blocks. An empty file is an empty span. Errors name the path and the reason. Move-only; concurrent reads
// are safe. A file that another process shortens while it is mapped raises SIGBUS on access: the project's
// own writers never do so (atomic_file.h replaces files, it does not edit them).
#pragma once
#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

namespace onceover {

class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  const std::filesystem::path& path() const { return path_; }
  size_t size() const { return size_; }
  std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(address_), size_}; }
  std::string_view text() const { return {static_cast<const char*>(address_), size_}; }

 private:
  std::filesystem::path path_;
  void* address_ = nullptr;
  size_t size_ = 0;
};

// The text of a small file. Error if it is larger than `max_bytes`.
std::string read_text_file(const std::filesystem::path& path, size_t max_bytes);

}  // namespace onceover
