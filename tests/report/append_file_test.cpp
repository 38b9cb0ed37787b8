#include "report/append_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "support/errors.h"
#include "support/temporary_folder.h"

namespace onceover {
namespace {

// Makes the system refuse to let files grow beyond some size, as a full disk would.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit before_{};
};

TEST(AppendFile, AFailedWriteLeavesTheFileAsItWas) {
  const TemporaryFolder folder;
  AppendFile file((folder / "log").string(), AppendFile::Mode::New);
  file.append("first\n");
  {
    const FullDisk full(20);
    const std::string message = error_of([&] { file.append(std::string(100, 'x')); });
    EXPECT_NE(message.find("log"), std::string::npos) << message;
    EXPECT_EQ(read_bytes(file.path()), "first\n");
  }
  file.append("second\n");
  EXPECT_EQ(read_bytes(file.path()), "first\nsecond\n");
  EXPECT_EQ(file.size_bytes(), 13);
}

TEST(AppendFile, TakesNothingButARegularFile) {
  const TemporaryFolder folder;
  EXPECT_NE(error_of([] { AppendFile("/dev/null", AppendFile::Mode::New); }).find("regular file"),
            std::string::npos);
  EXPECT_THROW(AppendFile((folder / "missing").string(), AppendFile::Mode::Existing), Error);
}

}  // namespace
}  // namespace onceover
