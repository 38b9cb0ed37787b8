// Byte layouts are given at each type, in the order of the bytes; "low, high" are the nibbles of a byte.
#include "gguf/dequantise.h"

#include <cstring>
#include <stdexcept>

#include "base/error.h"
#include "weights/dtype.h"

namespace onceover {
namespace {

using Bytes = const uint8_t*;

uint16_t u16(Bytes at) { return static_cast<uint16_t>(at[0] | at[1] << 8); }
uint32_t u32(Bytes at) { return u16(at) | uint32_t{u16(at + 2)} << 16; }
float f16(Bytes at) { return f16_to_f32(u16(at)); }
int low(uint8_t byte) { return byte & 0xF; }
int high(uint8_t byte) { return byte >> 4; }

void f32_number(Bytes in, float* out) { std::memcpy(out, in, sizeof *out); }
void f16_number(Bytes in, float* out) { *out = f16(in); }
void bf16_number(Bytes in, float* out) { *out = bf16_to_f32(u16(in)); }

// d, q[32]: low of byte j is element j, high is element j + 16.
void q4_0_block(Bytes in, float* out) {
  const float d = f16(in);
  for (int j = 0; j < 16; j++) {
    out[j] = d * static_cast<float>(low(in[2 + j]) - 8);
    out[j + 16] = d * static_cast<float>(high(in[2 + j]) - 8);
  }
}

// d, m, q[32] as in Q4_0.
void q4_1_block(Bytes in, float* out) {
  const float d = f16(in), m = f16(in + 2);
  for (int j = 0; j < 16; j++) {
    out[j] = d * static_cast<float>(low(in[4 + j])) + m;
    out[j + 16] = d * static_cast<float>(high(in[4 + j])) + m;
  }
}

// The fifth bit of element j is bit j of `fifth`.
int with_fifth(int four, uint32_t fifth, int j) { return four | static_cast<int>(fifth >> j & 1) << 4; }

// d, fifth bits (u32), q[32] as in Q4_0.
void q5_0_block(Bytes in, float* out) {
  const float d = f16(in);
  const uint32_t fifth = u32(in + 2);
  for (int j = 0; j < 16; j++) {
    out[j] = d * static_cast<float>(with_fifth(low(in[6 + j]), fifth, j) - 16);
    out[j + 16] = d * static_cast<float>(with_fifth(high(in[6 + j]), fifth, j + 16) - 16);
  }
}

// d, m, fifth bits (u32), q[32] as in Q4_0.
void q5_1_block(Bytes in, float* out) {
  const float d = f16(in), m = f16(in + 2);
  const uint32_t fifth = u32(in + 4);
  for (int j = 0; j < 16; j++) {
    out[j] = d * static_cast<float>(with_fifth(low(in[8 + j]), fifth, j)) + m;
    out[j + 16] = d * static_cast<float>(with_fifth(high(in[8 + j]), fifth, j + 16)) + m;
  }
}

// d, q[32] of one signed byte.
void q8_0_block(Bytes in, float* out) {
  const float d = f16(in);
  for (int j = 0; j < 32; j++) out[j] = d * static_cast<float>(static_cast<int8_t>(in[2 + j]));
}

// Scale and min of group g of 8, from 12 bytes: those of the groups 0 to 3 are the lower 6 bits of bytes g
// and g + 4; those of the others have 4 bits each in byte g + 4, scale low and min high, and their upper 2
// bits on top of bytes g - 4 and g.
struct ScaleAndMin {
  float scale, min;
};

ScaleAndMin group_scale(Bytes packed, int g, float d, float dmin) {
  int scale = packed[g] & 63, min = packed[g + 4] & 63;
  if (g >= 4) {
    scale = low(packed[g + 4]) | packed[g - 4] >> 6 << 4;
    min = high(packed[g + 4]) | packed[g] >> 6 << 4;
  }
  return {d * static_cast<float>(scale), dmin * static_cast<float>(min)};
}

// d, dmin, scales and mins[12], q[256]: 32 bytes for two groups of 32, the first low, the second high.
void q4_k_block(Bytes in, float* out) {
  const float d = f16(in), dmin = f16(in + 2);
  for (int g = 0; g < 8; g++) {
    const ScaleAndMin group = group_scale(in + 4, g, d, dmin);
    const Bytes q = in + 16 + g / 2 * 32;
    for (int j = 0; j < 32; j++) {
      const int four = g % 2 == 0 ? low(q[j]) : high(q[j]);
      out[g * 32 + j] = group.scale * static_cast<float>(four) - group.min;
    }
  }
}

// d, dmin, scales and mins[12], fifth bits[32] (bit g of byte j for element j of group g), q[256] as in Q4_K.
void q5_k_block(Bytes in, float* out) {
  const float d = f16(in), dmin = f16(in + 2);
  for (int g = 0; g < 8; g++) {
    const ScaleAndMin group = group_scale(in + 4, g, d, dmin);
    const Bytes fifth = in + 16, q = in + 48 + g / 2 * 32;
    for (int j = 0; j < 32; j++) {
      const int four = g % 2 == 0 ? low(q[j]) : high(q[j]);
      out[g * 32 + j] = group.scale * static_cast<float>(with_fifth(four, fifth[j], g)) - group.min;
    }
  }
}

// lower 4 bits[128], upper 2 bits[64], scales[16] of one signed byte, d. Each half of 128 elements is four
// quarters k of 32: their lower bits lie low (k 0, 1) and high (2, 3) in bytes 32 (k mod 2) + j, their upper
// bits in the bits 2k of byte j.
void q6_k_block(Bytes in, float* out) {
  const float d = f16(in + 208);
  for (int quarter = 0; quarter < 8; quarter++) {
    const int half = quarter / 4, k = quarter % 4;
    const Bytes lower = in + half * 64 + k % 2 * 32, upper = in + 128 + half * 32;
    for (int j = 0; j < 32; j++) {
      const auto scale = static_cast<int8_t>(in[192 + quarter * 2 + j / 16]);
      const int q = (k < 2 ? low(lower[j]) : high(lower[j])) | (upper[j] >> 2 * k & 3) << 4;
      out[quarter * 32 + j] = d * static_cast<float>(scale) * static_cast<float>(q - 32);
    }
  }
}

template <auto read_block>
void each_block(GgmlType type, std::span<const std::byte> blocks, std::span<float> out) {
  const auto in = reinterpret_cast<Bytes>(blocks.data());
  const auto count = static_cast<int64_t>(out.size()) / block_elements(type);
  const int64_t step = block_bytes(type), elements = block_elements(type);
  for (int64_t i = 0; i < count; i++) read_block(in + i * step, out.data() + i * elements);
}

using ReadBlocks = void (*)(GgmlType, std::span<const std::byte>, std::span<float>);

// Null for a type that is not read.
ReadBlocks reader_of(GgmlType type) {
  switch (type) {
    case GgmlType::F32:
      return each_block<f32_number>;
    case GgmlType::F16:
      return each_block<f16_number>;
    case GgmlType::BF16:
      return each_block<bf16_number>;
    case GgmlType::Q4_0:
      return each_block<q4_0_block>;
    case GgmlType::Q4_1:
      return each_block<q4_1_block>;
    case GgmlType::Q5_0:
      return each_block<q5_0_block>;
    case GgmlType::Q5_1:
      return each_block<q5_1_block>;
    case GgmlType::Q8_0:
      return each_block<q8_0_block>;
    case GgmlType::Q4_K:
      return each_block<q4_k_block>;
    case GgmlType::Q5_K:
      return each_block<q5_k_block>;
    case GgmlType::Q6_K:
      return each_block<q6_k_block>;
    default:
      return nullptr;
  }
}

}  // namespace

bool can_dequantise(GgmlType type) { return reader_of(type) != nullptr; }

void dequantise(GgmlType type, std::span<const std::byte> blocks, std::span<float> out) {
  const ReadBlocks read = reader_of(type);
  if (read == nullptr) {
    throw Error(
        "tensors of type {} are not read, expected one of F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, "
        "Q4_K, Q5_K, Q6_K",
        ggml_type_name(type));
  }
  const auto elements = static_cast<size_t>(block_elements(type)),
             bytes = static_cast<size_t>(block_bytes(type));
  if (out.size() % elements != 0 || out.size() / elements * bytes != blocks.size()) {
    throw std::logic_error("dequantise: blocks and numbers differ in count");
  }
  read(type, blocks, out);
}

void dequantise_rows(const GgufTensor& tensor, int64_t first, std::span<float> out) {
  const int64_t row = tensor.row_elements();
  const auto count = row == 0 ? 0 : static_cast<int64_t>(out.size()) / row;
  if (first < 0 || count > tensor.rows() - first || count * row != static_cast<int64_t>(out.size())) {
    throw std::logic_error("dequantise_rows: no such rows");
  }
  const auto row_bytes = static_cast<size_t>(row / block_elements(tensor.type) * block_bytes(tensor.type));
  dequantise(
      tensor.type,
      tensor.bytes.subspan(static_cast<size_t>(first) * row_bytes, static_cast<size_t>(count) * row_bytes),
      out);
}

}  // namespace onceover
