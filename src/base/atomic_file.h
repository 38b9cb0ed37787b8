// A file that appears under its name only when complete.
//
// Bytes go to a temporary in the same folder; commit() makes them durable and renames. Before commit() has
// returned the old file, if any, is untouched; after it the new one survives a crash. Any failure (full disk,
// size limit, quota, short write) throws an Error naming the target and the reason, and the temporary is
// removed. Going out of scope without commit() also removes it; a killed process leaves it to be removed by
// the next writer of the same name. A size limit (RLIMIT_FSIZE) is an Error too, not a SIGXFSZ. A symbolic
// link at the target is replaced, not followed. One thread per object; two writers of one name do not disturb
// each other, the last commit stays.
#pragma once
#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

#include "base/file_descriptor.h"

namespace onceover {

class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path target);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  void commit();

 private:
  void open_partial();

  std::filesystem::path target_;
  std::filesystem::path partial_;
  FileDescriptor file_;
};

// The whole of `text` as a file, atomically.
void write_text_file(const std::filesystem::path& target, std::string_view text);

}  // namespace onceover
