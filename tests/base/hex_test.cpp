#include "base/hex.h"

#include <gtest/gtest.h>

#include <limits>

#include "support/errors.h"

namespace onceover {
namespace {

TEST(Hex, EveryNumberComesBack) {
  for (const uint64_t value : {uint64_t{0}, uint64_t{0xAB}, std::numeric_limits<uint64_t>::max()}) {
    EXPECT_EQ(to_hex(value).size(), 16u);
    EXPECT_EQ(from_hex(to_hex(value), "f"), value);
  }
  EXPECT_EQ(to_hex(0xAB), "00000000000000ab");
}

TEST(Hex, AnythingButSixteenDigitsIsRefused) {
  for (const char* bad :
       {"", "ab", "00000000000000abc", "-0000000000000ab", "0x000000000000ab", "000000000000000g"}) {
    EXPECT_TRUE(contains(error_of([&] { from_hex(bad, "f"); }), "f: '" + std::string(bad) + "' is not"))
        << bad;
  }
}

}  // namespace
}  // namespace onceover
