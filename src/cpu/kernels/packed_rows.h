// Rows of activations in the order in which the register tiles read them, as numbers that a weight format
// multiplies.
//
// Rows lie in groups of Leaves::tile_rows, the last as long as it comes, and where there is more than one
// group, inputs in slices of slice_inputs: first all groups of the first slice, so that what is multiplied
// with a slice of weights is one run of memory. F32, F16 and BF16 weights meet floats: [inputs][rows of the
// group]. Q8 and Q4 weights meet integers with a scale for each row's block of 32 inputs: x = scale * q.
//
// Q8 meets 16 bits, |q| <= 32767: AVX2 multiplies pairs of them at twice the rate of floats and never
// saturates, and an outlier costs no accuracy. Q4 meets 8 bits, |q| <= 127, as bytes where there is more than
// one group: fours of them multiply at twice that rate again, and the weight's own error is ten times theirs.
#pragma once
#include <cstdint>

#include "cpu/kernels/buffer.h"
#include "cpu/kernels/packed_matrix.h"

namespace onceover::kernels {

// Weights of a panel that are unpacked at a time: 16 KiB of floats, half of the L1 cache.
constexpr int64_t slice_inputs = 256;

// A group's inputs of one slice; pointers into a PackedRows.
struct RowGroup {
  int64_t rows;
  int64_t inputs;
  float* values;    // floats
  int16_t* q;       // integers as [pairs of inputs][rows][2]; null where they are bytes
  int8_t* bytes;    // integers as [fours of inputs][rows][4]; null where they are not
  float* scales;    // [blocks][rows]
  int32_t* offset;  // [blocks][rows]: -8 * sum of the block's q, what a Q4 weight's bias of 8 adds
};

class PackedRows {
 public:
  // Shapes the storage; contents are undefined until Leaves::pack_group has filled every group of every
  // slice.
  void reserve(WeightFormat format, int64_t rows, int64_t inputs);

  int64_t rows() const { return rows_; }
  int64_t groups() const { return (rows_ + tile_rows_ - 1) / tile_rows_; }
  int64_t slices() const { return (inputs_ + slice_ - 1) / slice_; }
  RowGroup group(int64_t index, int64_t slice) const;

 private:
  WeightFormat format_ = WeightFormat::F32;
  int64_t rows_ = 0, inputs_ = 0, tile_rows_ = 1, slice_ = 1;
  bool as_bytes_ = false;
  Buffer values_, scales_, offsets_;
};

}  // namespace onceover::kernels
