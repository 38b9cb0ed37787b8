#include "weights/dtype.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace onceover {
namespace {

struct Row {
  DType dtype;
  std::string_view name;
  size_t size;
  bool is_float;
};

// In the order of the enumeration.
constexpr std::array rows{
    Row{DType::F64, "F64", 8, true},         Row{DType::F32, "F32", 4, true},
    Row{DType::F16, "F16", 2, true},         Row{DType::BF16, "BF16", 2, true},
    Row{DType::F8_E4M3, "F8_E4M3", 1, true}, Row{DType::F8_E5M2, "F8_E5M2", 1, true},
    Row{DType::I64, "I64", 8, false},        Row{DType::I32, "I32", 4, false},
    Row{DType::I16, "I16", 2, false},        Row{DType::I8, "I8", 1, false},
    Row{DType::U64, "U64", 8, false},        Row{DType::U32, "U32", 4, false},
    Row{DType::U16, "U16", 2, false},        Row{DType::U8, "U8", 1, false},
    Row{DType::BOOL, "BOOL", 1, false},
};

const Row& row(DType dtype) { return rows.at(static_cast<size_t>(dtype)); }

// value >> shift, rounded to nearest, ties to even. 0 < shift < 32.
uint32_t shift_rounded(uint32_t value, int shift) {
  const uint32_t half = uint32_t{1} << (shift - 1);
  const uint32_t kept = value >> shift;
  const uint32_t lost = value & ((half << 1) - 1);
  return kept + (lost > half || (lost == half && (kept & 1) != 0));
}

}  // namespace

std::string_view dtype_name(DType dtype) { return row(dtype).name; }
size_t dtype_size(DType dtype) { return row(dtype).size; }
bool is_float(DType dtype) { return row(dtype).is_float; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const auto& r : rows) {
    if (r.name == name) return r.dtype;
  }
  return std::nullopt;
}

float f16_to_f32(uint16_t bits) {
  const uint32_t sign = uint32_t{bits & 0x8000U} << 16;
  const uint32_t exponent = (bits >> 10) & 0x1F, mantissa = bits & 0x3FF;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000U | mantissa << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
  return sign != 0 ? -magnitude : magnitude;
}

uint16_t f32_to_f16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000U, magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) return static_cast<uint16_t>(sign | 0x7E00U | (magnitude >> 13 & 0x3FFU));
  if (magnitude >= 0x477FF000U) return static_cast<uint16_t>(sign | 0x7C00U);  // from 65520 up: infinity
  if (magnitude >= 0x38800000U) {  // normal: a carry out of the mantissa raises the exponent, as it should
    return static_cast<uint16_t>(sign | shift_rounded(magnitude - (uint32_t{112} << 23), 13));
  }
  const int shift = 126 - static_cast<int>(magnitude >> 23);  // subnormal, in units of 2^-24
  if (shift > 25) return static_cast<uint16_t>(sign);
  return static_cast<uint16_t>(sign | shift_rounded((magnitude & 0x7FFFFFU) | 0x800000U, shift));
}

float bf16_to_f32(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

uint16_t f32_to_bf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return static_cast<uint16_t>(bits >> 16 | 0x40U);  // stay NaN
  return static_cast<uint16_t>(shift_rounded(bits, 16));
}

float f8_e4m3_to_f32(uint8_t bits) {
  const int exponent = bits >> 3 & 0xF, mantissa = bits & 0x7;
  float magnitude = std::numeric_limits<float>::quiet_NaN();
  if ((bits & 0x7F) != 0x7F) {
    magnitude = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -9)
                              : std::ldexp(static_cast<float>(8 + mantissa), exponent - 10);
  }
  return (bits & 0x80) != 0 ? -magnitude : magnitude;
}

float f8_e5m2_to_f32(uint8_t bits) { return f16_to_f32(static_cast<uint16_t>(bits << 8)); }

}  // namespace onceover
