// How tensors of a GGUF file hold their numbers: in blocks of so many elements that take so many bytes.
//
// Numbers as in the file. Source: github.com/ggml-org/ggml, docs/gguf.md (the numbers) and gguf-py's table of
// block sizes. Types that no file may hold are unknown here: removed ones (4, 5, 31 to 33, 36 to 38) and the
// intermediates of a product (9, 15).
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace onceover {

enum class GgmlType : uint32_t {
  F32 = 0,
  F16 = 1,
  Q4_0 = 2,
  Q4_1 = 3,
  Q5_0 = 6,
  Q5_1 = 7,
  Q8_0 = 8,
  Q2_K = 10,
  Q3_K = 11,
  Q4_K = 12,
  Q5_K = 13,
  Q6_K = 14,
  IQ2_XXS = 16,
  IQ2_XS = 17,
  IQ3_XXS = 18,
  IQ1_S = 19,
  IQ4_NL = 20,
  IQ3_S = 21,
  IQ2_S = 22,
  IQ4_XS = 23,
  I8 = 24,
  I16 = 25,
  I32 = 26,
  I64 = 27,
  F64 = 28,
  IQ1_M = 29,
  BF16 = 30,
  TQ1_0 = 34,
  TQ2_0 = 35,
  MXFP4 = 39
};

// Nothing for an unknown number.
std::optional<GgmlType> ggml_type_from_number(uint32_t number);

// "F32", "Q4_K", …
std::string_view ggml_type_name(GgmlType type);

// Elements of one block. A row is whole blocks.
int64_t block_elements(GgmlType type);

// Bytes of one block.
int64_t block_bytes(GgmlType type);

}  // namespace onceover
