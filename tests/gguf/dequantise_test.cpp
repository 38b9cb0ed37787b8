// Each type against a formula for one element, in double precision. Products of a scale (11 bits) and small
// integers are exact even in single precision, and a sum of two of them is exact in double: so rounding the
// double once gives the bits that single precision must give. No tolerance.
#include "gguf/dequantise.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "support/errors.h"
#include "support/fresh_seed.h"

namespace onceover {
namespace {

using Block = std::vector<uint8_t>;

int bit(const Block& b, size_t byte, size_t index) { return b[byte + index / 8] >> index % 8 & 1; }
int nibble(uint8_t byte, bool upper) { return upper ? byte / 16 : byte % 16; }

double half(const Block& b, size_t byte) {
  const int bits = b[byte] + 256 * b[byte + 1];
  const int exponent = bits / 1024 % 32, mantissa = bits % 1024;
  double size = std::ldexp(exponent == 0 ? mantissa : 1024 + mantissa, std::max(exponent, 1) - 25);
  if (exponent == 31) size = mantissa == 0 ? HUGE_VAL : std::nan("");
  return bits >= 0x8000 ? -size : size;
}

// The 32 nibbles from `byte`: the first 16 elements lower, the others upper.
int of_32(const Block& b, size_t byte, size_t i) { return nibble(b[byte + i % 16], i >= 16); }

// The 256 nibbles from `byte`: 64 elements in 32 bytes, the first 32 lower.
int of_256(const Block& b, size_t byte, size_t i) {
  return nibble(b[byte + i / 64 * 32 + i % 32], i % 64 >= 32);
}

double q4_0(const Block& b, size_t i) { return half(b, 0) * (of_32(b, 2, i) - 8); }
double q4_1(const Block& b, size_t i) { return half(b, 0) * of_32(b, 4, i) + half(b, 2); }
double q5_0(const Block& b, size_t i) { return half(b, 0) * (of_32(b, 6, i) + 16 * bit(b, 2, i) - 16); }
double q5_1(const Block& b, size_t i) {
  return half(b, 0) * (of_32(b, 8, i) + 16 * bit(b, 4, i)) + half(b, 2);
}
double q8_0(const Block& b, size_t i) { return half(b, 0) * (b[2 + i] < 128 ? b[2 + i] : b[2 + i] - 256); }

int six_bits(const Block& b, size_t group, bool is_min) {
  const size_t first = 4 + (is_min ? 4 : 0);
  if (group < 4) return b[first + group] % 64;
  return nibble(b[8 + group], is_min) + b[first + group - 4] / 64 * 16;
}

double with_group(const Block& b, size_t i, int q) {
  return half(b, 0) * six_bits(b, i / 32, false) * q - half(b, 2) * six_bits(b, i / 32, true);
}

double q4_k(const Block& b, size_t i) { return with_group(b, i, of_256(b, 16, i)); }
double q5_k(const Block& b, size_t i) {
  return with_group(b, i, of_256(b, 48, i) + 16 * bit(b, 16 + i % 32, i / 32));
}

double q6_k(const Block& b, size_t i) {
  const size_t in_half = i % 128, byte = i / 128 * 64 + in_half % 64;
  const int lower = nibble(b[byte], in_half >= 64);
  const int upper = b[128 + i / 128 * 32 + i % 32] >> in_half / 32 * 2 & 3;
  const int scale = b[192 + i / 16] < 128 ? b[192 + i / 16] : b[192 + i / 16] - 256;
  return half(b, 208) * scale * (lower + 16 * upper - 32);
}

double f16(const Block& b, size_t) { return half(b, 0); }

struct Format {
  GgmlType type;
  size_t elements;
  std::vector<size_t> halves;  // where the block holds an f16
  size_t bytes;
  double (*element)(const Block&, size_t);
};

const std::vector<Format> formats{
    {GgmlType::F16, 1, {0}, 2, f16},          {GgmlType::Q8_0, 32, {0}, 34, q8_0},
    {GgmlType::Q4_0, 32, {0}, 18, q4_0},      {GgmlType::Q4_1, 32, {0, 2}, 20, q4_1},
    {GgmlType::Q5_0, 32, {0}, 22, q5_0},      {GgmlType::Q5_1, 32, {0, 2}, 24, q5_1},
    {GgmlType::Q4_K, 256, {0, 2}, 144, q4_k}, {GgmlType::Q5_K, 256, {0, 2}, 176, q5_k},
    {GgmlType::Q6_K, 256, {208}, 210, q6_k},
};

bool same(float a, float b) {
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b) || (std::isnan(a) && std::isnan(b));
}

void expect_element_by_element(const Format& format, const Block& blocks) {
  std::vector<float> found(blocks.size() / format.bytes * format.elements);
  dequantise(format.type, std::as_bytes(std::span(blocks)), found);
  for (size_t i = 0; i < found.size(); i++) {
    const auto begin = blocks.begin() + static_cast<ptrdiff_t>(i / format.elements * format.bytes);
    const Block block(begin, begin + static_cast<ptrdiff_t>(format.bytes));
    const auto expected = static_cast<float>(format.element(block, i % format.elements));
    ASSERT_TRUE(same(found[i], expected))
        << ggml_type_name(format.type) << " element " << i << ": " << found[i] << ", expected " << expected;
  }
}

Block random_block(const Format& format, std::mt19937& random) {
  Block block(format.bytes);
  for (uint8_t& byte : block) byte = static_cast<uint8_t>(random());
  return block;
}

void put_half(Block& block, size_t byte, uint16_t bits) {
  block[byte] = static_cast<uint8_t>(bits);
  block[byte + 1] = static_cast<uint8_t>(bits >> 8);
}

TEST(Dequantise, RandomBlocksGiveTheBitsOfTheFormula) {
  std::mt19937 random(fresh_seed());
  for (const Format& format : formats) {
    Block blocks;
    for (int i = 0; i < 200; i++) {
      const Block block = random_block(format, random);
      blocks.insert(blocks.end(), block.begin(), block.end());
    }
    expect_element_by_element(format, blocks);
  }
}

// Zeros, the least and largest subnormal, the least and largest normal, infinities, NaN and 1.
TEST(Dequantise, ExtremeScalesGiveTheBitsOfTheFormula) {
  std::mt19937 random(fresh_seed());
  const uint16_t extremes[] = {0,      0x8000, 1,      0x8001, 0x3FF,  0x400, 0x7BFF,
                               0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0xFE01, 0x3C00};
  for (const Format& format : formats) {
    for (uint16_t first : extremes) {
      for (uint16_t second : extremes) {
        Block block = random_block(format, random);
        put_half(block, format.halves.front(), first);
        put_half(block, format.halves.back(), format.halves.size() == 1 ? first : second);
        expect_element_by_element(format, block);
      }
    }
  }
}

// Every byte of the block takes every value, all others being equal to it, so that each integer takes all of
// its values at every place.
TEST(Dequantise, EveryIntegerGivesTheBitsOfTheFormula) {
  for (const Format& format : formats) {
    for (int value = 0; value < 256; value++) {
      Block block(format.bytes, static_cast<uint8_t>(value));
      for (size_t at : format.halves) put_half(block, at, 0x3555);
      expect_element_by_element(format, block);
    }
  }
}

// Worked out by hand, so that one misreading shared by code and formulas is not enough.
TEST(Dequantise, GivesNumbersWorkedOutByHand) {
  std::vector<float> out(256);
  Block q4(18);
  put_half(q4, 0, 0x4000);  // 2
  q4[2] = 0xF0, q4[3] = 0x19;
  dequantise(GgmlType::Q4_0, std::as_bytes(std::span(q4)), std::span(out).first(32));
  EXPECT_EQ(out[0], -16);
  EXPECT_EQ(out[16], 14);
  EXPECT_EQ(out[1], 2);
  EXPECT_EQ(out[17], -14);

  Block q4k(144);
  put_half(q4k, 0, 0x3C00), put_half(q4k, 2, 0x3800);  // 1, 0.5
  q4k[4] = 5, q4k[8] = 6;                              // group 0: scale 5, min 6
  q4k[7] = 0x80, q4k[11] = 0x40, q4k[15] = 0xA3;       // group 7: scale 3 + 2 * 16, min 10 + 1 * 16
  q4k[16] = 0x07, q4k[16 + 3 * 32 + 31] = 0x90;
  dequantise(GgmlType::Q4_K, std::as_bytes(std::span(q4k)), out);
  EXPECT_EQ(out[0], 5 * 7 - 3);
  EXPECT_EQ(out[1], -3);
  EXPECT_EQ(out[255], 35 * 9 - 13);
  EXPECT_EQ(out[224], -13);
}

TEST(Dequantise, PlainNumbersKeepTheirBits) {
  const std::vector<uint32_t> bits{0,          0x80000000, 1,          0x7F7FFFFF,
                                   0x7F800000, 0xFF800000, 0x7FC01234, 0x3F800001};
  std::vector<float> out(bits.size());
  dequantise(GgmlType::F32, std::as_bytes(std::span(bits)), out);
  for (size_t i = 0; i < bits.size(); i++) EXPECT_EQ(std::bit_cast<uint32_t>(out[i]), bits[i]);
  std::vector<uint16_t> upper(65536);
  for (size_t i = 0; i < upper.size(); i++) upper[i] = static_cast<uint16_t>(i);
  out.resize(upper.size());
  dequantise(GgmlType::BF16, std::as_bytes(std::span(upper)), out);
  for (size_t i = 0; i < out.size(); i++) ASSERT_EQ(std::bit_cast<uint32_t>(out[i]), i << 16);
}

TEST(Dequantise, RowsAreThoseOfTheWhole) {
  const Format& format = formats[1];
  std::mt19937 random(fresh_seed());
  Block blocks;
  for (int i = 0; i < 12; i++) {  // 6 rows of 2 blocks
    const Block block = random_block(format, random);
    blocks.insert(blocks.end(), block.begin(), block.end());
  }
  const GgufTensor tensor{format.type, {64, 3, 2}, std::as_bytes(std::span(blocks))};
  std::vector<float> whole(384), rows(128);
  dequantise_rows(tensor, 0, whole);
  for (int64_t first = 0; first <= 4; first++) {
    dequantise_rows(tensor, first, rows);
    for (size_t i = 0; i < rows.size(); i++) {
      ASSERT_TRUE(same(rows[i], whole[static_cast<size_t>(first) * 64 + i])) << first << " " << i;
    }
  }
  EXPECT_THROW(dequantise_rows(tensor, 5, rows), std::logic_error);
  EXPECT_THROW(dequantise_rows(tensor, -1, rows), std::logic_error);
  EXPECT_THROW(dequantise_rows(tensor, 0, std::span(rows).first(32)), std::logic_error);
  EXPECT_THROW(dequantise(format.type, tensor.bytes, rows), std::logic_error);
}

TEST(Dequantise, AnotherTypeIsRefusedByName) {
  const Block block(84);
  std::vector<float> out(256);
  EXPECT_FALSE(can_dequantise(GgmlType::Q2_K));
  EXPECT_TRUE(
      contains(error_of([&] { dequantise(GgmlType::Q2_K, std::as_bytes(std::span(block)), out); }), "Q2_K"));
  for (const Format& format : formats) EXPECT_TRUE(can_dequantise(format.type));
}

}  // namespace
}  // namespace onceover
