#include "report/files.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "base/error.h"
#include "report/scratch_folder.h"

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
  const ScratchFolder folder;
  AppendFile file(folder.path("log"), AppendFile::Mode::New);
  file.append("first\n");
  {
    const FullDisk full(20);
    const std::string message = message_of<Error>([&] { file.append(std::string(100, 'x')); });
    EXPECT_NE(message.find("log"), std::string::npos) << message;
    EXPECT_EQ(content_of(file.path()), "first\n");
  }
  file.append("second\n");
  EXPECT_EQ(content_of(file.path()), "first\nsecond\n");
  EXPECT_EQ(file.size_bytes(), 13);
}

TEST(AppendFile, TakesNothingButARegularFile) {
  const ScratchFolder folder;
  EXPECT_NE(message_of<Error>([] { AppendFile("/dev/null", AppendFile::Mode::New); }).find("regular file"),
            std::string::npos);
  EXPECT_THROW(AppendFile(folder.path("missing"), AppendFile::Mode::Existing), Error);
}

TEST(ReplaceFile, ReplacesWholeAndLeavesNoPart) {
  const ScratchFolder folder;
  replace_file(folder.path("a/page.html"), "old");
  replace_file(folder.path("a/page.html"), "new");
  EXPECT_EQ(content_of(folder.path("a/page.html")), "new");
  EXPECT_FALSE(std::filesystem::exists(folder.path("a/page.html.partial")));
  std::filesystem::create_directories(folder.path("b/full"));
  EXPECT_THROW(replace_file(folder.path("b"), "x"), Error);
  EXPECT_FALSE(std::filesystem::exists(folder.path("b.partial")));
}

}  // namespace
}  // namespace onceover
