// A weight matrix in the order in which the kernels of inference read it.
//
// [outputs, inputs] lies in panels of 16 outputs, the last filled up with zeros, each in one run of bytes:
//
//   F32, F16, BF16   [inputs][16 outputs]
//   Q8, Q4           blocks of 32 inputs, the last filled up with zeros; a block is 16 scales in F16, then
//     Q8   [8 fours of inputs][16 outputs][4 bytes]; weight = scale * (q - 128), q from 1 to 255
//     Q4   [4 groups of 8 inputs][16 outputs][4 bytes]; byte j of an output holds the inputs j and j + 4 of
//          its group, the first in its low 4 bits; weight = scale * (q - 8)
//
// So a kernel streams a panel from front to back, and a vector holds outputs: no sum runs across its lanes.
// Little-endian. Packed bytes are also what a quantised file holds (docs/quantised-format.md).
#pragma once
#include <cstddef>
#include <cstdint>

#include "cpu/kernels/view.h"

namespace onceover::kernels {

enum class WeightFormat : uint8_t { F32, BF16, F16, Q8, Q4 };

constexpr int64_t panel_outputs = 16;
constexpr int64_t block_inputs = 32;

constexpr bool is_quantised(WeightFormat f) { return f == WeightFormat::Q8 || f == WeightFormat::Q4; }

constexpr int64_t blocks_of(int64_t inputs) { return (inputs + block_inputs - 1) / block_inputs; }

// Bytes of a block of a quantised panel.
constexpr int64_t block_bytes(WeightFormat f) {
  return panel_outputs * (2 + (f == WeightFormat::Q8 ? block_inputs : block_inputs / 2));
}

// Does not own its bytes; they are aligned to 32.
struct PackedMatrix {
  WeightFormat format = WeightFormat::F32;
  int64_t outputs = 0, inputs = 0;
  const std::byte* data = nullptr;

  int64_t panels() const { return (outputs + panel_outputs - 1) / panel_outputs; }
  int64_t panel_bytes() const {
    if (is_quantised(format)) return blocks_of(inputs) * block_bytes(format);
    return inputs * panel_outputs * (format == WeightFormat::F32 ? 4 : 2);
  }
  int64_t bytes() const { return panels() * panel_bytes(); }
  const std::byte* panel(int64_t p) const { return data + p * panel_bytes(); }
};

// Writes the bytes of a matrix of this format and shape to `to`. Each Q4 scale is the best of a few by
// squared error. Values beyond the format's range become infinite in F16 and in scales; NaN stays NaN. Uses
// OpenMP's threads.
void pack(Input weight, const PackedMatrix& shape, std::byte* to);

// Row `output` of the matrix, [inputs].
void unpack_row(const PackedMatrix& matrix, int64_t output, float* to);

}  // namespace onceover::kernels
