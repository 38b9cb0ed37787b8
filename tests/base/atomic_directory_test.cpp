#include "base/atomic_directory.h"

#include <gtest/gtest.h>

#include <random>

#include "base/atomic_file.h"
#include "support/child_process.h"
#include "support/errors.h"
#include "support/fresh_seed.h"
#include "support/temporary_folder.h"

namespace onceover {
namespace {

using Existing = AtomicDirectory::Existing;

void write_pair(const std::filesystem::path& target, const std::string& text) {
  AtomicDirectory directory(target, Existing::Replace);
  write_text_file(directory.path() / "a", text);
  std::filesystem::create_directory(directory.path() / "deep");
  write_text_file(directory.path() / "deep/b", text);
  directory.commit();
}

TEST(AtomicDirectory, IsUnseenBeforeCommitAndWholeAfter) {
  const TemporaryFolder folder;
  AtomicDirectory directory(folder / "d", Existing::Refuse);
  write_text_file(directory.path() / "a", "text");
  EXPECT_FALSE(std::filesystem::exists(folder / "d"));
  directory.commit();
  EXPECT_EQ(read_bytes(folder / "d/a"), "text");
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(AtomicDirectory, IsRemovedWithoutCommit) {
  const TemporaryFolder folder;
  {
    AtomicDirectory directory(folder / "d", Existing::Refuse);
    write_text_file(directory.path() / "a", "text");
  }
  EXPECT_EQ(folder.entries(), 0U);
}

TEST(AtomicDirectory, ReplacesAnExistingOneOnlyWhenAsked) {
  const TemporaryFolder folder;
  write_pair(folder / "d", "old");
  EXPECT_TRUE(contains(error_of([&] { AtomicDirectory directory(folder / "d", Existing::Refuse); }),
                       "exists already"));
  EXPECT_EQ(read_bytes(folder / "d/a"), "old");
  write_pair(folder / "d", "new");
  EXPECT_EQ(read_bytes(folder / "d/a"), "new");
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(AtomicDirectory, RefusesAtCommitWhatAppearedMeanwhile) {
  const TemporaryFolder folder;
  AtomicDirectory directory(folder / "d", Existing::Refuse);
  write_pair(folder / "d", "rival");
  EXPECT_TRUE(contains(error_of([&] { directory.commit(); }), "exists already"));
  EXPECT_EQ(read_bytes(folder / "d/a"), "rival");
}

TEST(AtomicDirectory, RefusesANameTakenByAFile) {
  const TemporaryFolder folder;
  write_bytes(folder / "d", "file");
  const std::string error = error_of([&] { AtomicDirectory directory(folder / "d", Existing::Replace); });
  EXPECT_TRUE(contains(error, "not a directory")) << error;
}

TEST(AtomicDirectory, RefusesAPathWithoutAName) {
  EXPECT_TRUE(contains(error_of([] { AtomicDirectory directory("..", Existing::Replace); }),
                       "does not end in a name"));
}

TEST(AtomicDirectory, TakesATrailingSlash) {
  const TemporaryFolder folder;
  write_pair(folder / "d/", "text");
  EXPECT_EQ(read_bytes(folder / "d/a"), "text");
}

TEST(AtomicDirectory, LeavesOldOrNewWhenKilledAtAnyMoment) {
  const TemporaryFolder folder;
  std::mt19937 random(fresh_seed());
  const std::string a(50'000, 'a'), b(50'000, 'b');
  write_pair(folder / "d", a);
  for (int round = 0; round < 20; round++) {
    const pid_t child = fork();
    if (child == 0) {
      for (;;) {
        write_pair(folder / "d", b);
        write_pair(folder / "d", a);
      }
    }
    usleep(std::uniform_int_distribution<unsigned>(0, 20'000)(random));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const std::string top = read_bytes(folder / "d/a"), deep = read_bytes(folder / "d/deep/b");
    ASSERT_TRUE(top == deep && (top == a || top == b)) << "round " << round;
  }
  write_pair(folder / "d", a);
  EXPECT_EQ(folder.entries(), 1U) << "what killed writers left is removed by the next";
}

}  // namespace
}  // namespace onceover
