#include "cpu/kernels/packed_rows.h"

#include <algorithm>

#include "cpu/kernels/leaves.h"

namespace onceover::kernels {

void PackedRows::reserve(WeightFormat format, int64_t rows, int64_t inputs) {
  format_ = format, rows_ = rows, inputs_ = inputs, group_rows_ = leaves().group_rows(format);
  slice_ = are_few() ? std::max<int64_t>(inputs, 1) : slice_inputs;
  if (!is_quantised(format)) {
    values_.reserve(rows * inputs);
    return;
  }
  values_.reserve(rows * blocks_of(inputs) * block_inputs / 2);
  scales_.reserve(rows * blocks_of(inputs));
  offsets_.reserve(rows * blocks_of(inputs));
}

RowGroup PackedRows::group(int64_t index, int64_t slice) const {
  const int64_t row = index * group_rows_, input = slice * slice_;
  const int64_t inputs = std::min(slice_, inputs_ - input);
  RowGroup group{.rows = std::min(group_rows_, rows_ - row), .inputs = inputs};
  if (!is_quantised(format_)) {
    group.values = values_.data() + input * rows_ + row * inputs;
    return group;
  }
  const int64_t block = input / block_inputs * rows_ + row * blocks_of(inputs);
  const int64_t numbers = block * block_inputs;
  if (format_ == WeightFormat::Q8) {
    group.fours = reinterpret_cast<Four*>(values_.data()) + numbers / 4;
  } else {
    group.bytes = reinterpret_cast<int8_t*>(values_.data()) + numbers;
  }
  group.scales = scales_.data() + block;
  group.offset = reinterpret_cast<int32_t*>(offsets_.data()) + block;
  return group;
}

}  // namespace onceover::kernels
