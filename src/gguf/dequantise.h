// Numbers from the blocks of a GGUF tensor.
//
// d, m and dmin are f16, q the integer of an element; each product and sum is one f32 operation, in the order
// written, as in ggml's scalar code:
//   F32, F16, BF16   the number itself
//   Q4_0, Q5_0, Q8_0 d * (q - 8), d * (q - 16), d * q
//   Q4_1, Q5_1       d * q + m
//   Q4_K, Q5_K       (d * scale) * q - (dmin * min), with 6-bit scale and min for each 32 elements
//   Q6_K             (d * scale) * (q - 32), with an 8-bit scale for each 16 elements
// All functions are pure; several threads may read one tensor. Source of the method: ggml-quants.c in
// github.com/ggml-org/ggml.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "gguf/gguf_tensor.h"

namespace onceover {

// Whether the type is one of those above.
bool can_dequantise(GgmlType type);

// All elements of `blocks`. Error naming the type when it is none of those above; std::logic_error unless
// `out` takes whole blocks, and exactly `blocks`.
void dequantise(GgmlType type, std::span<const std::byte> blocks, std::span<float> out);

// Rows from `first` on, as many as fill `out`: [rows, row_elements]. Errors as above; std::logic_error for
// rows that are not there.
void dequantise_rows(const GgufTensor& tensor, int64_t first, std::span<float> out);

}  // namespace onceover
