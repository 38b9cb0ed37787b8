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

// The low bits of a block's numbers, four bytes of them side by side in every row.
template <class T>
ONCEOVER_LEAF_INLINE void scatter(const int32_t (&numbers)[block_inputs], T* to, int64_t rows) {
  constexpr int64_t unit = 4 / sizeof(T);
  T narrow[block_inputs];
  for (int64_t i = 0; i < block_inputs; ++i) narrow[i] = static_cast<T>(numbers[i]);
#pragma GCC unroll 16
  for (int64_t i = 0; i < block_inputs; i += unit) std::memcpy(to + i * rows, narrow + i, 4);
}

// A block of 32 inputs. A value that is not finite makes the scale NaN.
ONCEOVER_LEAF_INLINE void pack_integer_block(const float* x, float largest_q, int64_t row, int64_t block,
                                             const RowGroup& to) {
  const v8 magic = splat(12582912.0F);  // 1.5 * 2^23: rounds to a whole number in the low bits
  v8 size{}, excess{}, total{};
#pragma GCC unroll 4
  for (int64_t i = 0; i < block_inputs; i += 8) {
    const v8 value = load(x + i);
    size = larger(larger(value, -value), size);
    excess += value - value;
  }
  const float most = largest(size), wrong = sum(excess);
  const v8 inverse = splat(most > 1e-30F && wrong == 0 ? largest_q / most : 0);
  int32_t rounded[block_inputs];
#pragma GCC unroll 4
  for (int64_t i = 0; i < block_inputs; i += 8) {
    const v8 shifted = load(x + i) * inverse + magic;
    total += shifted - magic;
    std::memcpy(rounded + i, &shifted, sizeof(shifted));
  }
  const int64_t first = block * block_inputs * to.rows;
  if (to.bytes) {
    scatter(rounded, to.bytes + first + 4 * row, to.rows);
  } else {
    scatter(rounded, to.q + first + 2 * row, to.rows);
  }
  to.scales[block * to.rows + row] = wrong == 0 ? most / largest_q : wrong;
  to.offset[block * to.rows + row] = wrong == 0 ? -8 * static_cast<int32_t>(sum(total)) : 0;
}

ONCEOVER_LEAF void pack_group(WeightFormat format, Input x, const RowGroup& to) {
  if (!is_quantised(format)) return pack_floats(x, to);
  const float largest_q = format == WeightFormat::Q4 ? 127 : 32767;
  for (int64_t r = 0; r < to.rows; ++r) {
    for (int64_t b = 0; b < blocks_of(to.inputs); ++b) {
      const int64_t first = b * block_inputs, left = to.inputs - first;
      if (left >= block_inputs) {
        pack_integer_block(x[r] + first, largest_q, r, b, to);
        continue;
      }
      float filled[block_inputs]{};
      std::memcpy(filled, x[r] + first, static_cast<size_t>(left) * sizeof(float));
      pack_integer_block(filled, largest_q, r, b, to);
    }
  }
}

}  // namespace onceover::kernels::ONCEOVER_ISA
