#include "report/crc32c.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <string>

#include "support/fresh_seed.h"

namespace onceover {
namespace {

// RFC 3720, B.4, and the check value of the catalogue of CRC algorithms.
TEST(Crc32c, AgreesWithThePublishedVectors) {
  std::string rising(32, '\0');
  std::iota(rising.begin(), rising.end(), '\0');
  EXPECT_EQ(crc32c("123456789"), 0xE3069283u);
  EXPECT_EQ(crc32c(""), 0u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8AB43u);
  EXPECT_EQ(crc32c(rising), 0x46DD794Eu);
  EXPECT_EQ(crc32c(std::string(rising.rbegin(), rising.rend())), 0x113FDB5Cu);
}

// The definition, bit by bit.
uint32_t crc32c_by_division(const std::string& bytes) {
  uint32_t crc = ~0u;
  for (const unsigned char byte : bytes) {
    for (int bit = 0; bit < 8; bit++) {
      const bool subtract = ((crc ^ (byte >> bit)) & 1) != 0;
      crc = subtract ? (crc >> 1) ^ 0x82F63B78u : crc >> 1;
    }
  }
  return ~crc;
}

TEST(Crc32c, AgreesWithLongDivisionOnRandomBytes) {
  std::mt19937 random(fresh_seed());
  for (int round = 0; round < 50; round++) {
    std::string bytes(random() % 200, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    EXPECT_EQ(crc32c(bytes), crc32c_by_division(bytes));
  }
}

TEST(Crc32c, MaskingIsUndoneByTheOppositeSteps) {
  const uint32_t rotated = masked_crc32c("123456789") - 0xA282EAD8u;
  EXPECT_EQ((rotated >> 17) | (rotated << 15), 0xE3069283u);
}

}  // namespace
}  // namespace onceover
