// Rows of activations in the order in which the register tiles read them, as numbers that a weight format
// multiplies.
//
// Rows lie in groups of Leaves::tile_rows, the last as long as it comes. F32, F16 and BF16 weights meet
// floats: [inputs][rows of the group]. Q8 and Q4 weights meet 16-bit integers, [pairs of inputs][rows][2 of
// the pair], with a scale for each row's block of 32 inputs: x = scale * q, |q| <= 32767. Sixteen bits
// because AVX2 multiplies them at twice the rate of floats and never saturates; with eight, an outlier costs
// accuracy.
#pragma once
#include <cstdint>

#include "cpu/kernels/buffer.h"
#include "cpu/kernels/packed_matrix.h"

namespace onceover::kernels {

// One group; pointers into a PackedRows.
struct RowGroup {
  int64_t rows;
  float* values;    // floats
  int16_t* q;       // integers
  float* scales;    // [blocks][rows]
  int32_t* offset;  // [blocks][rows]: -8 * sum of the block's q, what a Q4 weight's bias of 8 adds
};

class PackedRows {
 public:
  // Shapes the storage; contents are undefined until Leaves::pack_group has filled every group.
  void reserve(WeightFormat format, int64_t rows, int64_t inputs);

  int64_t rows() const { return rows_; }
  int64_t groups() const;
  RowGroup group(int64_t index) const;

 private:
  WeightFormat format_ = WeightFormat::F32;
  int64_t rows_ = 0, inputs_ = 0;
  Buffer values_, scales_, offsets_;
};

}  // namespace onceover::kernels
