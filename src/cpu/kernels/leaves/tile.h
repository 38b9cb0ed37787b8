// Products of small matrices that sit in the L1 and L2 caches: the blocks of attention and retention.
//
// The register tile is tile_rows x 16 (6 x 16 fills 12 of the 16 AVX2 registers). B and C are row-major with
// rows padded to a multiple of 16 columns; A is read through two strides, so it may be transposed.
#pragma once
#include "cpu/kernels/leaves/vector.h"

namespace onceover::kernels::ONCEOVER_ISA {

constexpr int64_t tile_rows = ONCEOVER_TILE_ROWS;
constexpr int64_t tile_columns = 16;

// Rows that attention takes through all its products at once: enough to use what a product has brought into
// the L1 cache several times, few enough to skip most of what the mask hides.
constexpr int64_t panel_rows = 4 * tile_rows;

ONCEOVER_LEAF_INLINE int64_t padded(int64_t columns) {
  return (columns + tile_columns - 1) / tile_columns * tile_columns;
}

struct TileA {
  const float* data;
  int64_t row, column;  // strides
};
struct TileB {
  const float* data;
  int64_t row;
};
struct TileC {
  float* data;
  int64_t row;
};

// c[rows, 16] = (add ? c : 0) + a[rows, depth] b[depth, 16]
template <int64_t rows>
ONCEOVER_LEAF_INLINE void multiply_tile(int64_t depth, TileA a, TileB b, TileC c, bool add) {
  v8 left[rows], right[rows];
#pragma GCC unroll 8
  for (int64_t r = 0; r < rows; ++r) {
    left[r] = add ? load(c.data + r * c.row) : v8{};
    right[r] = add ? load(c.data + r * c.row + 8) : v8{};
  }
#pragma GCC unroll 4
  for (int64_t k = 0; k < depth; ++k) {
    const v8 b_left = load(b.data), b_right = load(b.data + 8);
#pragma GCC unroll 8
    for (int64_t r = 0; r < rows; ++r) {
      const v8 x = splat(a.data[r * a.row]);
      left[r] += x * b_left;
      right[r] += x * b_right;
    }
    a.data += a.column;
    b.data += b.row;
  }
#pragma GCC unroll 8
  for (int64_t r = 0; r < rows; ++r) {
    store(c.data + r * c.row, left[r]);
    store(c.data + r * c.row + 8, right[r]);
  }
}

template <int64_t n = tile_rows>
ONCEOVER_LEAF_INLINE void multiply_rows(int64_t rows, int64_t depth, TileA a, TileB b, TileC c, bool add) {
  if constexpr (n > 1) {
    if (rows < n) return multiply_rows<n - 1>(rows, depth, a, b, c, add);
  }
  multiply_tile<n>(depth, a, b, c, add);
}

// c[rows, columns] = (add ? c : 0) + a[rows, depth] b[depth, columns]; columns a multiple of 16. Sixteen
// columns of b stay in the L1 cache while all rows pass.
ONCEOVER_LEAF void multiply(int64_t rows, int64_t columns, int64_t depth, TileA a, TileB b, TileC c,
                            bool add) {
  for (int64_t j = 0; j < columns; j += tile_columns) {
    for (int64_t i = 0; i < rows; i += tile_rows) {
      multiply_rows(rows - i, depth, {a.data + i * a.row, a.row, a.column}, {b.data + j, b.row},
                    {c.data + i * c.row + j, c.row}, add);
    }
  }
}

// to[rows, padded(columns)] = scale * from[rows, columns], zero in the padding.
ONCEOVER_LEAF void copy_block(int64_t rows, int64_t columns, float scale, const float* from, int64_t stride,
                              TileC to) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* x = from + r * stride;
    float* y = to.data + r * to.row;
    int64_t j = 0;
    for (; j + 8 <= columns; j += 8) store(y + j, load(x + j) * scale);
    for (; j < columns; ++j) y[j] = x[j] * scale;
    for (; j < padded(columns); ++j) y[j] = 0;
  }
}

ONCEOVER_LEAF_INLINE void transpose_8x8(const float* from, int64_t stride, TileC to) {
  v8 a[8], b[8];
#pragma GCC unroll 8
  for (int r = 0; r < 8; ++r) a[r] = load(from + r * stride);
#pragma GCC unroll 4
  for (int r = 0; r < 8; r += 2) {
    b[r] = __builtin_shufflevector(a[r], a[r + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    b[r + 1] = __builtin_shufflevector(a[r], a[r + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
#pragma GCC unroll 2
  for (int h = 0; h < 8; h += 4) {
    a[h] = __builtin_shufflevector(b[h], b[h + 2], 0, 1, 8, 9, 4, 5, 12, 13);
    a[h + 1] = __builtin_shufflevector(b[h], b[h + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    a[h + 2] = __builtin_shufflevector(b[h + 1], b[h + 3], 0, 1, 8, 9, 4, 5, 12, 13);
    a[h + 3] = __builtin_shufflevector(b[h + 1], b[h + 3], 2, 3, 10, 11, 6, 7, 14, 15);
  }
#pragma GCC unroll 4
  for (int r = 0; r < 4; ++r) {
    store(to.data + r * to.row, __builtin_shufflevector(a[r], a[r + 4], 0, 1, 2, 3, 8, 9, 10, 11));
    store(to.data + (r + 4) * to.row, __builtin_shufflevector(a[r], a[r + 4], 4, 5, 6, 7, 12, 13, 14, 15));
  }
}

// to[columns, padded(rows)] = from[rows, columns]ᵀ, zero in the padding.
ONCEOVER_LEAF void transpose_block(int64_t rows, int64_t columns, const float* from, int64_t stride,
                                   TileC to) {
  const int64_t whole_rows = rows / 8 * 8, whole_columns = columns / 8 * 8;
  for (int64_t r = 0; r < whole_rows; r += 8) {
    for (int64_t j = 0; j < whole_columns; j += 8) {
      transpose_8x8(from + r * stride + j, stride, {to.data + j * to.row + r, to.row});
    }
    for (int64_t j = whole_columns; j < columns; ++j) {
      for (int64_t i = r; i < r + 8; ++i) to.data[j * to.row + i] = from[i * stride + j];
    }
  }
  for (int64_t j = 0; j < columns; ++j) {
    for (int64_t r = whole_rows; r < padded(rows); ++r)
      to.data[j * to.row + r] = r < rows ? from[r * stride + j] : 0;
  }
}

// to[rows, columns] += scale * from[rows, columns]
ONCEOVER_LEAF void add_block(int64_t rows, int64_t columns, float scale, TileB from, float* to,
                             int64_t stride) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* x = from.data + r * from.row;
    float* y = to + r * stride;
    int64_t j = 0;
    for (; j + 8 <= columns; j += 8) store(y + j, load(y + j) + load(x + j) * scale);
    for (; j < columns; ++j) y[j] += x[j] * scale;
  }
}

}  // namespace onceover::kernels::ONCEOVER_ISA
