// Rows of activations in the order in which the register tiles read them, as numbers that a weight format
// multiplies.
//
// Rows lie in groups of Leaves::group_rows, the last as long as it comes, and where there are more than
// few_groups, inputs in slices of slice_inputs: first all groups of the first slice, so that what is
// multiplied with a slice of weights is one run of memory. F32, F16 and BF16 weights meet floats:
// [inputs][rows of the group]. Q8 and Q4 weights meet integers with a scale for each row's block of 32
// inputs.
//
// Q8 meets fours of 7 bits with a factor of their own, x = scale * factor * q, |q| <= 64, factor <= 4096.
// AVX2 multiplies bytes at twice the rate of floats, but adds two products of 8 by 8 bits only with
// saturation; 64 * 255 * 2 fits. The factor rides along in the instruction that widens the sums, and makes 7
// bits of four numbers as good as 8 bits of 32. Sums over a block fit 32 bits.
//
// Q4 meets 8 bits, x = scale * q, |q| <= 127: sums over a block fit 16 bits.
#pragma once
#include <cstdint>

#include "cpu/kernels/buffer.h"
#include "cpu/kernels/packed_matrix.h"

namespace onceover::kernels {

// Weights of a panel that are multiplied at a time. Floats of so many do not fit the L1 cache; shorter
// slices, which do, were slower by 5% (floats) to 14% (Q4): sums go through memory once a slice.
constexpr int64_t slice_inputs = 1024;

// So many groups read a panel one after another as it lies; unpacking it would cost more.
constexpr int64_t few_groups = 4;

// Four inputs of a row.
struct Four {
  int8_t q[4];
  int16_t factor[2];  // the same twice
};

// A group's inputs of one slice; pointers into a PackedRows.
struct RowGroup {
  int64_t rows;
  int64_t inputs;
  float* values = nullptr;    // floats
  Four* fours = nullptr;      // Q8: [fours of inputs][rows]
  int8_t* bytes = nullptr;    // Q4: [fours of inputs][rows][4]
  float* scales = nullptr;    // [blocks][rows]
  int32_t* offset = nullptr;  // [blocks][rows]: -bias * sum of the block's integers, for the weights' bias
};

class PackedRows {
 public:
  // Shapes the storage; contents are undefined until Leaves::pack_group has filled every group of every
  // slice.
  void reserve(WeightFormat format, int64_t rows, int64_t inputs);

  int64_t rows() const { return rows_; }
  int64_t group_rows() const { return group_rows_; }
  int64_t groups() const { return (rows_ + group_rows_ - 1) / group_rows_; }
  bool are_few() const { return groups() <= few_groups; }
  int64_t slices() const { return (inputs_ + slice_ - 1) / slice_; }
  RowGroup group(int64_t index, int64_t slice) const;

 private:
  WeightFormat format_ = WeightFormat::F32;
  int64_t rows_ = 0, inputs_ = 0, group_rows_ = 1, slice_ = 1;
  Buffer values_, scales_, offsets_;
};

}  // namespace onceover::kernels
