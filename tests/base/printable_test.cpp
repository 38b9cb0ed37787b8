#include "base/printable.h"

#include <gtest/gtest.h>

namespace onceover {
namespace {

TEST(Printable, KeepsPlainAndForeignText) { EXPECT_EQ(printable("model.été.重み"), "model.été.重み"); }

TEST(Printable, WritesControlCharactersAndBrokenBytesAsNumbers) {
  EXPECT_EQ(printable("a\x1b[2J\n\xFF\xC3"), "a\\x1B[2J\\x0A\\xFF\\xC3");
  EXPECT_EQ(printable("\xC2\x9B"), "\\xC2\\x9B");
}

TEST(Printable, CutsLongTextAndSaysHowLongItWas) {
  EXPECT_EQ(printable(std::string(1000, 'x'), 3), "xxx… (1000 bytes)");
}

}  // namespace
}  // namespace onceover
