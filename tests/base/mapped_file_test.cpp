#include "base/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "support/child_process.h"
#include "support/errors.h"
#include "support/temporary_folder.h"

namespace onceover {
namespace {

std::string open_error(const std::filesystem::path& path) {
  return error_of([&] { MappedFile file(path); });
}

TEST(MappedFile, HoldsTheBytesOfTheFile) {
  const TemporaryFolder folder;
  write_bytes(folder / "f", std::string("a\0b", 3));
  const MappedFile file(folder / "f");
  EXPECT_EQ(file.text(), std::string("a\0b", 3));
  EXPECT_EQ(file.bytes().size(), 3U);
}

TEST(MappedFile, KeepsItsBytesWhenMoved) {
  const TemporaryFolder folder;
  write_bytes(folder / "f", "abc");
  MappedFile first(folder / "f");
  const auto* address = first.bytes().data();
  const MappedFile second(std::move(first));
  EXPECT_EQ(second.bytes().data(), address);
  EXPECT_EQ(second.text(), "abc");
}

TEST(MappedFile, IsAnEmptySpanForAnEmptyFile) {
  const TemporaryFolder folder;
  write_bytes(folder / "f", "");
  EXPECT_TRUE(MappedFile(folder / "f").bytes().empty());
}

TEST(MappedFile, SaysThatAFileIsMissing) {
  const TemporaryFolder folder;
  const std::string error = open_error(folder / "absent");
  EXPECT_TRUE(contains(error, "absent") && contains(error, "No such file")) << error;
}

TEST(MappedFile, RefusesADirectory) {
  const TemporaryFolder folder;
  EXPECT_TRUE(contains(open_error(folder.path()), "a directory"));
}

TEST(MappedFile, RefusesAFifoWithoutWaitingForAWriter) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_TRUE(contains(open_error(folder / "pipe"), "a FIFO"));
}

TEST(MappedFile, RefusesADevice) { EXPECT_TRUE(contains(open_error("/dev/zero"), "a device")); }

TEST(MappedFile, SaysThatPermissionIsMissing) {
  const TemporaryFolder folder;
  write_bytes(folder / "secret", "x");
  ASSERT_EQ(chmod((folder / "secret").c_str(), 0), 0);
  ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
  const ChildEnd end = fork_and_wait([&] {
    if (geteuid() == 0 && setuid(65534) != 0) return std::string("cannot drop root");
    MappedFile file(folder / "secret");
    return std::string("opened");
  });
  EXPECT_EQ(end.exit_code, 1);
  EXPECT_TRUE(contains(end.message, "Permission denied")) << end.message;
}

TEST(ReadTextFile, RefusesAFileLargerThanTheLimit) {
  const TemporaryFolder folder;
  write_bytes(folder / "f", "12345");
  EXPECT_EQ(read_text_file(folder / "f", 5), "12345");
  EXPECT_TRUE(contains(error_of([&] { read_text_file(folder / "f", 4); }), "at most 4 B"));
}

}  // namespace
}  // namespace onceover
