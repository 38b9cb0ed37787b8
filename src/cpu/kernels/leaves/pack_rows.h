// Rows of activations into groups (packed_rows.h): floats as they are, or rounded to integers block by block.
#pragma once
#include "cpu/kernels/leaves.h"
#include "cpu/kernels/leaves/vector.h"

namespace onceover::kernels::ONCEOVER_ISA {

ONCEOVER_LEAF void pack_floats(Input x, const RowGroup& to) {
  for (int64_t r = 0; r < to.rows; ++r) {
    for (int64_t i = 0; i < to.inputs; ++i) to.values[i * to.rows + r] = x[r][i];
  }
}

// The largest of each four lanes, in all four.
ONCEOVER_LEAF_INLINE v8 largest_of_fours(v8 x) {
  const v8 pairs = larger(x, __builtin_shufflevector(x, x, 1, 0, 3, 2, 5, 4, 7, 6));
  return larger(pairs, __builtin_shufflevector(pairs, pairs, 2, 3, 0, 1, 6, 7, 4, 5));
}

// The size of a block's largest number, and something that is not 0 where one is not finite.
struct BlockRange {
  float most, excess;
};

ONCEOVER_LEAF_INLINE BlockRange range_of(const float* x) {
  v8 size{}, excess{};
#pragma GCC unroll 4
  for (int64_t i = 0; i < block_inputs; i += 8) {
    const v8 value = load(x + i);
    size = larger(larger(value, -value), size);
    excess += value - value;
  }
  return {largest(size), sum(excess)};
}

// Rounds to whole numbers, which then also stand in the low bits.
ONCEOVER_LEAF_INLINE v8 rounding_magic() { return splat(12582912.0F); }  // 1.5 * 2^23

// Both return the sum of a block's integers.
ONCEOVER_LEAF_INLINE float store_fours(const float* x, float inverse, Four* to, int64_t rows) {
  const v8 magic = rounding_magic();
  v8 total{};
  for (int64_t i = 0; i < block_inputs; i += 8) {
    const v8 value = load(x + i) * splat(inverse);
    const v8 steps = largest_of_fours(larger(value, -value)) * (1.0F / 64);
    const v8 nearest = steps + magic - magic;
    const v8 above = nearest < steps ? nearest + 1 : nearest;
    const v8 factor = larger(above, splat(1));
    const v8 shifted = value / factor + magic, shifted_factor = factor + magic;
    total += (shifted - magic) * factor;
    int32_t q[8], f[8];
    std::memcpy(q, &shifted, sizeof(q));
    std::memcpy(f, &shifted_factor, sizeof(f));
    for (int64_t j = 0; j < 8; j += 4) {
      const auto twice = static_cast<int16_t>(f[j]);
      to[(i + j) / 4 * rows] = {{static_cast<int8_t>(q[j]), static_cast<int8_t>(q[j + 1]),
                                 static_cast<int8_t>(q[j + 2]), static_cast<int8_t>(q[j + 3])},
                                {twice, twice}};
    }
  }
  return sum(total);
}

ONCEOVER_LEAF_INLINE float store_bytes(const float* x, float inverse, int8_t* to, int64_t rows) {
  const v8 magic = rounding_magic();
  v8 total{};
  int32_t rounded[block_inputs];
#pragma GCC unroll 4
  for (int64_t i = 0; i < block_inputs; i += 8) {
    const v8 shifted = load(x + i) * splat(inverse) + magic;
    total += shifted - magic;
    std::memcpy(rounded + i, &shifted, sizeof(shifted));
  }
  int8_t narrow[block_inputs];
  for (int64_t i = 0; i < block_inputs; ++i) narrow[i] = static_cast<int8_t>(rounded[i]);
#pragma GCC unroll 8
  for (int64_t i = 0; i < block_inputs; i += 4) std::memcpy(to + i * rows, narrow + i, 4);
  return sum(total);
}

// A block of 32 inputs. A value that is not finite makes the scale NaN.
ONCEOVER_LEAF_INLINE void pack_integer_block(WeightFormat format, const float* x, int64_t row, int64_t block,
                                             const RowGroup& to) {
  const float largest_q = format == WeightFormat::Q8 ? 64 * 4096 : 127;
  const int bias = format == WeightFormat::Q8 ? 128 : 8;
  const BlockRange range = range_of(x);
  const float zeros[block_inputs]{};
  const bool empty = range.excess != 0 || range.most <= 1e-30F;
  if (empty) x = zeros;
  const float inverse = empty ? 0 : largest_q / range.most;
  const int64_t first = block * block_inputs * to.rows;
  const float total = to.fours ? store_fours(x, inverse, to.fours + first / 4 + row, to.rows)
                               : store_bytes(x, inverse, to.bytes + first + 4 * row, to.rows);
  to.scales[block * to.rows + row] = range.excess == 0 ? range.most / largest_q : range.excess;
  to.offset[block * to.rows + row] = -bias * static_cast<int32_t>(total);
}

ONCEOVER_LEAF void pack_group(WeightFormat format, Input x, const RowGroup& to) {
  if (!is_quantised(format)) return pack_floats(x, to);
  for (int64_t r = 0; r < to.rows; ++r) {
    for (int64_t b = 0; b < blocks_of(to.inputs); ++b) {
      const int64_t first = b * block_inputs, left = to.inputs - first;
      if (left >= block_inputs) {
        pack_integer_block(format, x[r] + first, r, b, to);
        continue;
      }
      float filled[block_inputs]{};
      std::memcpy(filled, x[r] + first, static_cast<size_t>(left) * sizeof(float));
      pack_integer_block(format, filled, r, b, to);
    }
  }
}

}  // namespace onceover::kernels::ONCEOVER_ISA
