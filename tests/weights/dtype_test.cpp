#include "weights/dtype.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "support/fresh_seed.h"
#include "weights/tensor.h"

namespace onceover {
namespace {

// The value of a float of `exponent_bits` and `mantissa_bits`, by the definition of the format.
double value_of(uint32_t bits, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const uint32_t mantissa = bits & ((1U << mantissa_bits) - 1);
  const int exponent = static_cast<int>(bits >> mantissa_bits & ((1U << exponent_bits) - 1));
  const double sign = (bits >> (exponent_bits + mantissa_bits) & 1) != 0 ? -1 : 1;
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp(1 + std::ldexp(mantissa, -mantissa_bits), exponent - bias);
}

bool finite_f16(uint32_t bits) { return (bits & 0x7C00) != 0x7C00; }
bool finite_bf16(uint32_t bits) { return (bits & 0x7F80) != 0x7F80; }

TEST(F16, DecodesEveryPatternAndEncodesItBack) {
  for (uint32_t bits = 0; bits < 0x10000; bits++) {
    const auto pattern = static_cast<uint16_t>(bits);
    const float value = f16_to_f32(pattern);
    if (finite_f16(bits)) {
      ASSERT_EQ(value, value_of(bits, 5, 10)) << bits;
    } else {
      ASSERT_EQ(std::isnan(value), (bits & 0x3FF) != 0) << bits;
      if ((bits & 0x3FF) == 0) {
        ASSERT_EQ(value, bits == 0x7C00 ? INFINITY : -INFINITY);
      }
    }
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(f16_to_f32(f32_to_f16(value)))) << bits;
    } else {
      ASSERT_EQ(f32_to_f16(value), pattern);
    }
  }
}

TEST(Bf16, DecodesEveryPatternAndEncodesItBack) {
  for (uint32_t bits = 0; bits < 0x10000; bits++) {
    const auto pattern = static_cast<uint16_t>(bits);
    const float value = bf16_to_f32(pattern);
    if (finite_bf16(bits)) {
      ASSERT_EQ(value, value_of(bits, 8, 7)) << bits;
    }
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(bf16_to_f32(f32_to_bf16(value)))) << bits;
    } else {
      ASSERT_EQ(f32_to_bf16(value), pattern);
    }
  }
}

// Checks a rounding against the neighbours below and above: nearest, ties to the even pattern.
template <class Encode>
void expect_nearest(float x, Encode encode_one, int exponent_bits, int mantissa_bits) {
  const uint32_t sign = std::signbit(x) ? 0x8000 : 0, infinity = ((1U << exponent_bits) - 1) << mantissa_bits;
  const uint32_t found = encode_one(x) & 0x7FFFU;
  ASSERT_EQ(encode_one(x) & 0x8000U, sign) << x;
  const auto distance = [&](uint32_t bits) {
    return std::abs(std::abs(double{x}) -
                    value_of(bits, exponent_bits, mantissa_bits));  // infinity: the next power
  };
  if (found > 0) {
    ASSERT_LE(distance(found), distance(found - 1)) << x;
    if (distance(found) == distance(found - 1)) {
      ASSERT_EQ(found % 2, 0U) << x;
    }
  }
  if (found < infinity) {
    ASSERT_LE(distance(found), distance(found + 1)) << x;
    if (distance(found) == distance(found + 1)) {
      ASSERT_EQ(found % 2, 0U) << x;
    }
  }
}

TEST(F16, RoundsToNearestTiesToEven) {
  std::mt19937 random(fresh_seed());
  for (int i = 0; i < 200'000; i++) {
    // Every binade that matters; a third of the numbers are exact ties or next to one.
    uint32_t bits = (std::uniform_int_distribution<uint32_t>(98, 142)(random) << 23) | (random() & 0x7FFFFF);
    if (i % 3 == 0) bits = (bits & ~0x1FFFU) | (0x1000U + random() % 3 - 1);
    const float x = std::bit_cast<float>(static_cast<uint32_t>(bits | (random() & 1) << 31));
    expect_nearest(x, f32_to_f16, 5, 10);
  }
  for (uint32_t bits = 0; bits < 0x400; bits++) {  // ties between subnormals
    const auto tie = static_cast<float>((bits + 0.5) * 0x1p-24);
    expect_nearest(tie, f32_to_f16, 5, 10);
    expect_nearest(std::nextafter(tie, 1.F), f32_to_f16, 5, 10);
  }
}

TEST(Bf16, RoundsToNearestTiesToEven) {
  std::mt19937 random(fresh_seed());
  for (int i = 0; i < 200'000; i++) {
    auto bits = static_cast<uint32_t>(random() & 0x7FFFFFFF);
    if (i % 3 == 0) bits = (bits & ~0xFFFFU) | (0x8000U + random() % 3 - 1);
    if (bits >= 0x7F800000) continue;
    expect_nearest(std::bit_cast<float>(static_cast<uint32_t>(bits | (random() & 1) << 31)), f32_to_bf16, 8,
                   7);
  }
}

TEST(F16, OverflowsToInfinityFromTheMiddleOn) {
  EXPECT_EQ(f32_to_f16(65519.996F), 0x7BFF);
  EXPECT_EQ(f32_to_f16(65520.F), 0x7C00);
  EXPECT_EQ(f32_to_f16(-1e30F), 0xFC00);
}

TEST(F8, DecodesByTheDefinition) {
  for (uint32_t bits = 0; bits < 0x100; bits++) {
    const float e4m3 = f8_e4m3_to_f32(static_cast<uint8_t>(bits));
    if ((bits & 0x7F) == 0x7F) {
      EXPECT_TRUE(std::isnan(e4m3));
    } else {
      EXPECT_EQ(e4m3, value_of(bits, 4, 3)) << bits;
    }
    if ((bits & 0x7C) != 0x7C) {
      EXPECT_EQ(f8_e5m2_to_f32(static_cast<uint8_t>(bits)), value_of(bits, 5, 2)) << bits;
    }
  }
  EXPECT_EQ(f8_e4m3_to_f32(0x7E), 448.F);
  EXPECT_EQ(f8_e5m2_to_f32(0x7C), INFINITY);
}

TEST(DType, IsFoundByItsNameAndUnknownOtherwise) {
  for (int i = 0; i <= static_cast<int>(DType::BOOL); i++) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(dtype_from_name(dtype_name(dtype)), dtype);
  }
  EXPECT_EQ(dtype_size(DType::F64), 8U);
  EXPECT_EQ(dtype_size(DType::BF16), 2U);
  EXPECT_FALSE(dtype_from_name("f32"));
  EXPECT_TRUE(is_float(DType::F8_E5M2) && !is_float(DType::BOOL));
}

TEST(Convert, ReadsEveryDTypeAtAnyAlignment) {
  const auto read = [](DType dtype, auto stored) {
    std::vector<std::byte> bytes(sizeof stored + 1);
    std::memcpy(bytes.data() + 1, &stored, sizeof stored);
    return to_f64({dtype, {1}, std::span(bytes).subspan(1)})[0];
  };
  EXPECT_EQ(read(DType::F64, 0.1), 0.1);
  EXPECT_EQ(read(DType::F32, 0.1F), double{0.1F});
  EXPECT_EQ(read(DType::F16, uint16_t{0x3C00}), 1);
  EXPECT_EQ(read(DType::BF16, uint16_t{0xC000}), -2);
  EXPECT_EQ(read(DType::F8_E4M3, uint8_t{0x38}), 1);
  EXPECT_EQ(read(DType::F8_E5M2, uint8_t{0x3C}), 1);
  EXPECT_EQ(read(DType::I64, int64_t{-5}), -5);
  EXPECT_EQ(read(DType::I32, int32_t{-6}), -6);
  EXPECT_EQ(read(DType::I16, int16_t{-7}), -7);
  EXPECT_EQ(read(DType::I8, int8_t{-8}), -8);
  EXPECT_EQ(read(DType::U64, uint64_t{5}), 5);
  EXPECT_EQ(read(DType::U32, uint32_t{0xFFFFFFFF}), 4294967295.0);
  EXPECT_EQ(read(DType::U16, uint16_t{0xFFFF}), 65535);
  EXPECT_EQ(read(DType::U8, uint8_t{0xFF}), 255);
  EXPECT_EQ(read(DType::BOOL, uint8_t{2}), 1);
}

TEST(Convert, ReadsAPieceAndRefusesOneOutOfRange) {
  const std::vector<float> numbers{1, 2, 3, 4};
  const TensorView view = view_of(numbers, {2, 2});
  std::vector<float> piece(2);
  convert(view, 1, std::span(piece));
  EXPECT_EQ(piece, (std::vector<float>{2, 3}));
  EXPECT_THROW(convert(view, 3, std::span(piece)), std::logic_error);
  EXPECT_THROW(convert(view, SIZE_MAX, std::span(piece)), std::logic_error);
  EXPECT_THROW(view_of(numbers, {3}), std::logic_error);
}

}  // namespace
}  // namespace onceover
