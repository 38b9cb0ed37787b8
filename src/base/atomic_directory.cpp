#include "base/atomic_directory.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/partial.h"

namespace onceover {
namespace {

[[noreturn]] void fail(const std::filesystem::path& target, const std::string& reason) {
  throw Error("{}: directory cannot be written: {}", target.string(), reason);
}

// "dir/" and "dir" are one target.
std::filesystem::path without_trailing_slash(std::filesystem::path path) {
  return path.has_filename() ? path : path.parent_path();
}

void sync_tree(const std::filesystem::path& root) {
  std::error_code error;
  const auto entries = std::filesystem::recursive_directory_iterator(root, error);
  if (error) fail(root, error.message());
  for (const auto& entry : entries) {
    if (entry.is_directory()) {
      sync_folder(entry.path());
      continue;
    }
    const FileDescriptor file(open(entry.path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!file.valid() || fsync(file.get()) != 0) fail(entry.path(), std::strerror(errno));
  }
  sync_folder(root);
}

}  // namespace

AtomicDirectory::AtomicDirectory(std::filesystem::path target, Existing existing)
    : target_(without_trailing_slash(std::move(target))), existing_(existing) {
  const auto name = target_.filename();
  if (name.empty() || name == "." || name == "..") fail(target_, "the path does not end in a name");
  if (target_is_taken() && existing_ == Existing::Refuse) fail(target_, "it exists already");
  remove_abandoned_partials(target_);
  create_partial();
}

bool AtomicDirectory::target_is_taken() const {
  struct stat status {};
  if (lstat(target_.c_str(), &status) != 0) return false;
  if (!S_ISDIR(status.st_mode)) fail(target_, "the name is taken by something that is not a directory");
  return true;
}

void AtomicDirectory::create_partial() {
  constexpr int attempts = 100;  // another writer may take a fresh partial for abandoned before it is locked
  for (int i = 0; i < attempts; i++) {
    const auto path = partial_path(target_);
    if (mkdir(path.c_str(), 0777) != 0) {
      if (errno == EEXIST) continue;
      fail(target_, std::strerror(errno));
    }
    FileDescriptor lock(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY | O_NOFOLLOW));
    if (!lock.valid() && errno != ENOENT) {
      rmdir(path.c_str());
      fail(target_, std::strerror(errno));
    }
    struct stat status {};
    if (!lock.valid() || !lock_partial(lock.get()) || stat(path.c_str(), &status) != 0) continue;
    lock_ = std::move(lock);
    partial_ = path;
    return;
  }
  fail(target_, "no temporary name is free beside it");
}

AtomicDirectory::~AtomicDirectory() {
  std::error_code ignored;
  if (!partial_.empty()) std::filesystem::remove_all(partial_, ignored);
}

void AtomicDirectory::commit() {
  sync_tree(partial_);
  const bool swap = target_is_taken();
  if (swap && existing_ == Existing::Refuse) fail(target_, "it exists already");
  // Without a directory to swap with, a plain rename: it fails by itself on one that is not empty.
  const unsigned flags = swap ? RENAME_EXCHANGE : 0;
  if (renameat2(AT_FDCWD, partial_.c_str(), AT_FDCWD, target_.c_str(), flags) != 0)
    fail(target_, std::strerror(errno));
  if (!swap) partial_.clear();  // else it now names the old directory, which the destructor removes
  sync_folder(folder_of(target_));
}

}  // namespace onceover
