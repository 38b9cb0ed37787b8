// Element types of stored tensors, and their conversion.
//
// Names and sizes as in safetensors. Narrowing rounds to nearest, ties to even; overflow becomes infinity;
// NaN stays NaN. F8_E4M3 is the "fn" form: no infinities, NaN is S.1111.111. All functions are pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace onceover {

enum class DType : uint8_t {
  F64,
  F32,
  F16,
  BF16,
  F8_E4M3,
  F8_E5M2,
  I64,
  I32,
  I16,
  I8,
  U64,
  U32,
  U16,
  U8,
  BOOL
};

// "F32", "BF16", …
std::string_view dtype_name(DType dtype);

// Nothing for an unknown name.
std::optional<DType> dtype_from_name(std::string_view name);

// Bytes of one element.
size_t dtype_size(DType dtype);

// Whether the type holds real numbers, so can be a weight.
bool is_float(DType dtype);

float f16_to_f32(uint16_t bits);
uint16_t f32_to_f16(float value);
float bf16_to_f32(uint16_t bits);
uint16_t f32_to_bf16(float value);
float f8_e4m3_to_f32(uint8_t bits);
float f8_e5m2_to_f32(uint8_t bits);

}  // namespace onceover
