// Tensors of a GGUF file: where they lie and what they hold.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "gguf/ggml_type.h"
#include "gguf/gguf_cursor.h"

namespace onceover {

struct GgufTensor {
  GgmlType type;
  std::vector<int64_t> dims;         // GGML's order: the length of a row first; none for a scalar
  std::span<const std::byte> bytes;  // of any alignment; whole blocks, row after row

  int64_t row_elements() const { return dims.empty() ? 1 : dims[0]; }
  int64_t rows() const;
  // Row-major, as elsewhere in this project: the length of a row last.
  std::vector<int64_t> shape() const { return {dims.rbegin(), dims.rend()}; }
};

using GgufTensors = std::map<std::string_view, GgufTensor>;

// Bytes of the least entry that read_tensors() reads.
constexpr size_t min_tensor_entry_bytes = 24;

// Reads `count` entries (name, u32 number of dims, u64 dims, u32 type, u64 offset), which stand at the end of
// the header, and places them in the data, which begins at the next multiple of `alignment`. Error naming the
// tensor, unless: names are unique and at most 64 bytes; at most 4 dims, whose product does not overflow; a
// known type; rows of whole blocks; an offset that is a multiple of `alignment`; all bytes in the file; no
// two tensors overlap.
GgufTensors read_tensors(GgufCursor& cursor, std::span<const std::byte> file, uint64_t count,
                         uint64_t alignment);

}  // namespace onceover
