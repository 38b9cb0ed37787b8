// An owned POSIX file descriptor, closed when it goes.
#pragma once
#include <unistd.h>

#include <utility>

namespace onceover {

class FileDescriptor {
 public:
  explicit FileDescriptor(int number = -1) : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~FileDescriptor() {
    if (number_ >= 0) ::close(number_);
  }

  int get() const { return number_; }
  bool valid() const { return number_ >= 0; }

  // Closes now; the result of close(2). Some file systems report a failed write only here.
  int close() { return ::close(std::exchange(number_, -1)); }

 private:
  int number_;
};

}  // namespace onceover
