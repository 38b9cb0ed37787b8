// A directory that appears under its name only when complete.
//
// Write files below path(); commit() makes every one durable and gives the directory its name in one step.
// Until then, and after any failure or kill, the name holds what it held before: nothing, or the old
// directory whole. Without commit() the unfinished directory is removed; a killed process leaves it to the
// next writer of the same name. Errors name the target and the reason. One thread per object.
#pragma once
#include <filesystem>

#include "base/file_descriptor.h"

namespace onceover {

class AtomicDirectory {
 public:
  enum class Existing {
    Refuse,   // an Error at construction and at commit()
    Replace,  // swapped for the new one in one step (RENAME_EXCHANGE: any local Linux file system), then
              // removed
  };

  AtomicDirectory(std::filesystem::path target, Existing existing);
  AtomicDirectory(const AtomicDirectory&) = delete;
  AtomicDirectory& operator=(const AtomicDirectory&) = delete;
  ~AtomicDirectory();

  // Where to write. Below the target's folder, so on the same file system.
  const std::filesystem::path& path() const { return partial_; }
  void commit();

 private:
  bool target_is_taken() const;
  void create_partial();

  std::filesystem::path target_;
  Existing existing_;
  std::filesystem::path partial_;
  FileDescriptor lock_;
};

}  // namespace onceover
