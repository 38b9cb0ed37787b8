#include "base/atomic_file.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <random>
#include <string>

#include "base/mapped_file.h"
#include "support/child_process.h"
#include "support/errors.h"
#include "support/fresh_seed.h"
#include "support/temporary_folder.h"

namespace onceover {
namespace {

TEST(AtomicFile, IsUnseenBeforeCommitAndWholeAfter) {
  const TemporaryFolder folder;
  AtomicFile file(folder / "f");
  file.write("new ");
  file.write("text");
  EXPECT_FALSE(std::filesystem::exists(folder / "f"));
  file.commit();
  EXPECT_EQ(read_bytes(folder / "f"), "new text");
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(AtomicFile, LeavesTheOldFileAndNothingElseWithoutCommit) {
  const TemporaryFolder folder;
  write_bytes(folder / "f", "old");
  { AtomicFile(folder / "f").write("new"); }
  EXPECT_EQ(read_bytes(folder / "f"), "old");
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(AtomicFile, LeavesAMappedOldFileReadable) {
  const TemporaryFolder folder;
  write_bytes(folder / "f", "old text");
  const MappedFile old(folder / "f");
  write_text_file(folder / "f", "n");
  EXPECT_EQ(old.text(), "old text");
  EXPECT_EQ(read_bytes(folder / "f"), "n");
}

TEST(AtomicFile, SaysThatTheFolderIsMissing) {
  const TemporaryFolder folder;
  const std::string error = error_of([&] { AtomicFile file(folder / "absent/f"); });
  EXPECT_TRUE(contains(error, "absent/f") && contains(error, "No such file")) << error;
}

TEST(AtomicFile, RefusesToReplaceWhatIsNoRegularFile) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_TRUE(contains(error_of([&] { AtomicFile file(folder / "pipe"); }), "not a regular file"));
  EXPECT_TRUE(contains(error_of([&] { AtomicFile file(folder.path()); }), "not a regular file"));
  EXPECT_TRUE(contains(error_of([&] { AtomicFile file("/dev/null"); }), "not a regular file"));
}

TEST(AtomicFile, TurnsASizeLimitIntoAnErrorAndKeepsTheOldFile) {
  const TemporaryFolder folder;
  write_bytes(folder / "f", "old");
  const ChildEnd end = fork_and_wait([&] {
    const rlimit limit{64 << 10, 64 << 10};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return std::string("no limit");
    write_text_file(folder / "f", std::string(1 << 20, 'x'));
    return std::string("written");
  });
  EXPECT_EQ(end.signal, 0);
  EXPECT_EQ(end.exit_code, 1);
  EXPECT_TRUE(contains(end.message, "/f: ") && contains(end.message, "File too large")) << end.message;
  EXPECT_EQ(read_bytes(folder / "f"), "old");
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(AtomicFile, SaysThatTheDiskIsFull) {
  const TemporaryFolder folder;
  const ChildEnd end = fork_and_wait([&]() -> std::string {
    // A file system of 64 KiB, seen by this child alone.
    const char* options = "size=64k";
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("none", folder.path().c_str(), "tmpfs", 0, options) != 0) {
      return "no rights to mount";
    }
    write_bytes(folder / "f", "old");
    const std::string error = error_of([&] { write_text_file(folder / "f", std::string(1 << 20, 'x')); });
    return fmt::format("{} old={} entries={}", error, read_bytes(folder / "f"), folder.entries());
  });
  if (end.message == "no rights to mount") GTEST_SKIP() << end.message << " a tmpfs";
  EXPECT_TRUE(contains(end.message, "/f: cannot be written: No space left on device old=old entries=1"))
      << end.message;
}

TEST(AtomicFile, LeavesOldOrNewWhenKilledAtAnyMoment) {
  const TemporaryFolder folder;
  std::mt19937 random(fresh_seed());
  const std::string a(300'000, 'a'), b(300'000, 'b');
  write_text_file(folder / "f", a);
  for (int round = 0; round < 20; round++) {
    const pid_t child = fork();
    if (child == 0) {
      for (;;) {
        write_text_file(folder / "f", b);
        write_text_file(folder / "f", a);
      }
    }
    usleep(std::uniform_int_distribution<unsigned>(0, 20'000)(random));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const std::string found = read_bytes(folder / "f");
    ASSERT_TRUE(found == a || found == b) << "round " << round << ", " << found.size() << " bytes";
  }
  write_text_file(folder / "f", a);
  EXPECT_EQ(folder.entries(), 1U) << "what killed writers left is removed by the next";
}

TEST(AtomicFile, LeavesAnotherLivingWritersWorkAlone) {
  const TemporaryFolder folder;
  AtomicFile first(folder / "f");
  AtomicFile second(folder / "f");
  first.write("first");
  second.write("second");
  second.commit();
  first.commit();
  EXPECT_EQ(read_bytes(folder / "f"), "first");
}

}  // namespace
}  // namespace onceover
