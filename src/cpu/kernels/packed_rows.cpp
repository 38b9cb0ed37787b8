#include "cpu/kernels/packed_rows.h"

#include <algorithm>

#include "cpu/kernels/leaves.h"

namespace onceover::kernels {

void PackedRows::reserve(WeightFormat format, int64_t rows, int64_t inputs) {
  format_ = format, rows_ = rows, inputs_ = inputs, tile_rows_ = leaves().tile_rows;
  as_bytes_ = format == WeightFormat::Q4 && groups() > 1;
  if (!is_quantised(format)) {
    values_.reserve(rows * inputs);
    return;
  }
  values_.reserve(rows * blocks_of(inputs) * block_inputs / 2);
  scales_.reserve(rows * blocks_of(inputs));
  offsets_.reserve(rows * blocks_of(inputs));
}

RowGroup PackedRows::group(int64_t index) const {
  const int64_t first = index * tile_rows_, rows = std::min(tile_rows_, rows_ - first);
  RowGroup group{rows, nullptr, nullptr, nullptr, nullptr, nullptr};
  if (!is_quantised(format_)) {
    group.values = values_.data() + first * inputs_;
    return group;
  }
  const int64_t blocks = blocks_of(inputs_), numbers = first * blocks * block_inputs;
  if (as_bytes_) {
    group.bytes = reinterpret_cast<int8_t*>(values_.data()) + numbers;
  } else {
    group.q = reinterpret_cast<int16_t*>(values_.data()) + numbers;
  }
  group.scales = scales_.data() + first * blocks;
  group.offset = reinterpret_cast<int32_t*>(offsets_.data()) + first * blocks;
  return group;
}

}  // namespace onceover::kernels
