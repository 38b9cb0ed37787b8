// A file that only grows and must survive a crash. (base/atomic_file.h: files that are replaced whole.)
//
// Errors name the path and the system's reason. Not thread-safe; one writer owns a file.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/file_descriptor.h"

namespace onceover {

// A file that grows by whole pieces: each append is one write to the system, so that a crash of the process
// tears at most the last piece, and a failed append (a full disk) leaves the file as it was before it.
class AppendFile {
 public:
  enum class Mode { New, Existing };

  // New: creates `path` and the folders above it, and refuses one that already holds something. Existing:
  // refuses a missing one.
  AppendFile(const std::string& path, Mode mode);

  void append(std::string_view piece);
  void truncate(int64_t size_bytes);
  void sync();  // returns when the bytes are on the disk: survives a loss of power
  int64_t size_bytes() const { return size_bytes_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  FileDescriptor file_;
  int64_t size_bytes_ = 0;
};

}  // namespace onceover
