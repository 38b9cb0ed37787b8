#include "base/file_name.h"

#include <gtest/gtest.h>

#include "support/errors.h"

namespace onceover {
namespace {

TEST(FileName, AnythingThatLeavesTheFolderIsRefused) {
  using namespace std::string_literals;
  for (const std::string& bad : {""s, "."s, ".."s, "/"s, "../x"s, "a/b"s, "a\\b"s, "a\0b"s}) {
    EXPECT_TRUE(contains(error_of([&] { require_plain_file_name(bad, "f"); }), "is not a plain file name"))
        << bad;
  }
  for (const char* good : {"a", "a.b", "..a", ".hidden", "é 1"})
    EXPECT_NO_THROW(require_plain_file_name(good, "f"));
}

}  // namespace
}  // namespace onceover
