#include "base/new_folder.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/temporary_folder.h"

namespace onceover {
namespace {

TEST(NewFolder, LeavesNothingBehindWhenNothingWasWritten) {
  const TemporaryFolder outer;
  { const NewFolder made(outer / "a" / "b"); }
  EXPECT_FALSE(std::filesystem::exists(outer / "a"));
}

TEST(NewFolder, KeepsWhatHoldsAFile) {
  const TemporaryFolder outer;
  {
    const NewFolder made(outer / "a" / "b");
    write_bytes(outer / "a" / "file", "x");
    EXPECT_TRUE(std::filesystem::is_directory(outer / "a" / "b"));
  }
  EXPECT_TRUE(std::filesystem::exists(outer / "a" / "file"));
  EXPECT_FALSE(std::filesystem::exists(outer / "a" / "b"));
}

TEST(NewFolder, KeepsAFolderThatWasThere) {
  const TemporaryFolder outer;
  { const NewFolder there(outer.path()); }
  EXPECT_TRUE(std::filesystem::is_directory(outer.path()));
}

TEST(NewFolder, ThatCannotBeMadeIsAnError) {
  const TemporaryFolder outer;
  write_bytes(outer / "file", "x");
  EXPECT_THROW(NewFolder(outer / "file" / "a"), Error);
  EXPECT_THROW(NewFolder(outer / "file"), Error);
}

}  // namespace
}  // namespace onceover
