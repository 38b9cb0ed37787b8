// Query rows against the pages of one sequence: a page's keys and values of one head become f32 tiles, which
// all query rows of the head's group pass, panel_rows at a time, with an online softmax.
//
// Tiles begin at whole pages, so a row adds up in the same order whatever rows stand beside it.
#pragma once
#include "cpu/kernels/buffer.h"
#include "cpu/kernels/leaves/attention_forward.h"
#include "cpu/kernels/leaves/pages.h"

namespace onceover::kernels::ONCEOVER_ISA {

// Scratch of one item. Row (h * group + g) * rows + i is query row i of query head g of key head h, both
// counted from the item's first.
struct PagedBlock {
  int64_t floats;  // of scratch
  int64_t rows, heads, q_stride, v_stride;
  float* q;              // [heads * group * rows, head_dim], times the scale
  float *keys, *values;  // [head_dim, 64], [64, v_head_dim]
  float* across;         // values kept as keys
  float* out;            // [heads * group * rows, v_head_dim], not yet divided by the total
  float *most, *total;   // [heads * group * rows]
  float* scores;         // [panel_rows, 64]
};

ONCEOVER_LEAF PagedBlock paged_block(const PagedItem& item, float* scratch) {
  const AttendShape& s = item.call->shape;
  PagedBlock b{};
  b.rows = item.end_row - item.first_row;
  b.heads = item.end_head - item.first_head;
  b.q_stride = padded(s.head_dim);
  b.v_stride = padded(s.v_head_dim);
  const int64_t all = b.heads * s.group() * b.rows;
  Carver part{scratch};
  b.keys = part.take(s.head_dim * page_rows);
  b.values = part.take(page_rows * b.v_stride);
  b.across = part.take(item.call->v.layout.is_key ? s.v_head_dim * page_rows : 0);
  b.scores = part.take(panel_rows * page_rows);
  b.q = part.take(all * b.q_stride);
  b.out = part.take(all * b.v_stride);
  b.most = part.take(all);
  b.total = part.take(all);
  b.floats = part.used;
  return b;
}

ONCEOVER_LEAF int64_t attend_paged_scratch(const PagedItem& item) {
  return paged_block(item, nullptr).floats;
}

// c[rows, columns] = (add ? c : 0) + a[rows, depth] b[depth, columns] for 1 to 3 rows: wide tiles, so that
// enough sums are under way at once to hide the latency of an addition.
template <int64_t rows, int64_t vectors>
ONCEOVER_LEAF_INLINE void multiply_wide(int64_t depth, TileA a, TileB b, TileC c, bool add) {
  v8 acc[rows][vectors];
#pragma GCC unroll 4
  for (int64_t r = 0; r < rows; ++r) {
#pragma GCC unroll 8
    for (int64_t j = 0; j < vectors; ++j) acc[r][j] = add ? load(c.data + r * c.row + 8 * j) : v8{};
  }
  for (int64_t k = 0; k < depth; ++k) {
#pragma GCC unroll 4
    for (int64_t r = 0; r < rows; ++r) {
      const v8 x = splat(a.data[r * a.row + k * a.column]);
#pragma GCC unroll 8
      for (int64_t j = 0; j < vectors; ++j) acc[r][j] += x * load(b.data + k * b.row + 8 * j);
    }
  }
#pragma GCC unroll 4
  for (int64_t r = 0; r < rows; ++r) {
#pragma GCC unroll 8
    for (int64_t j = 0; j < vectors; ++j) store(c.data + r * c.row + 8 * j, acc[r][j]);
  }
}

template <int64_t rows, int64_t vectors>
ONCEOVER_LEAF_INLINE void multiply_few(int64_t columns, int64_t depth, TileA a, TileB b, TileC c, bool add) {
  int64_t j = 0;
  for (; j + 8 * vectors <= columns; j += 8 * vectors) {
    multiply_wide<rows, vectors>(depth, a, {b.data + j, b.row}, {c.data + j, c.row}, add);
  }
  if (j < columns) multiply(rows, columns - j, depth, a, {b.data + j, b.row}, {c.data + j, c.row}, add);
}

// As multiply(), whatever the rows.
ONCEOVER_LEAF void multiply_panel(int64_t rows, int64_t columns, int64_t depth, TileA a, TileB b, TileC c,
                                  bool add) {
  if (rows == 1) return multiply_few<1, 8>(columns, depth, a, b, c, add);
  if (rows == 2) return multiply_few<2, 4>(columns, depth, a, b, c, add);
  if (rows == 3) return multiply_few<3, 4>(columns, depth, a, b, c, add);
  multiply(rows, columns, depth, a, b, c, add);
}

// Block rows `row` .. row + n - 1 against the `count` keys from `first_key` on.
ONCEOVER_LEAF void paged_panel(const PagedItem& item, const PagedBlock& b, const float* keys,
                               const float* values, int64_t row, int64_t n, int64_t first_key,
                               int64_t count) {
  const AttendShape& s = item.call->shape;
  const auto first_of = [&](int64_t r) {
    return s.first_visible(0, item.first_row + r % b.rows) - first_key;
  };
  const auto end_of = [&](int64_t r) { return s.end_visible(item.first_row + r % b.rows) - first_key; };
  int64_t first = count, end = 0;
  for (int64_t r = row; r < row + n; ++r) {
    first = first_of(r) < first ? first_of(r) : first;
    end = end_of(r) > end ? end_of(r) : end;
  }
  const int64_t from = first > 0 ? first / tile_columns * tile_columns : 0;
  const int64_t to = end < count ? end : count;
  if (from >= to) return;
  multiply_panel(n, padded(to - from), s.head_dim, {b.q + row * b.q_stride, b.q_stride, 1},
                 {keys + from, page_rows}, {b.scores + from, page_rows}, false);
  for (int64_t r = 0; r < n; ++r) {
    softmax_row(b.scores + r * page_rows, from, from + padded(to - from), first_of(row + r), end_of(row + r),
                b.most[row + r], b.total[row + r], b.out + (row + r) * b.v_stride, b.v_stride);
  }
  multiply_panel(n, b.v_stride, to - from, {b.scores + from, page_rows, 1},
                 {values + from * b.v_stride, b.v_stride}, {b.out + row * b.v_stride, b.v_stride}, true);
}

ONCEOVER_LEAF void start_paged(const PagedItem& item, const PagedBlock& b) {
  const AttendShape& s = item.call->shape;
  const int64_t first = item.first_head * s.group(), heads = b.heads * s.group();
  for (int64_t h = 0; h < heads; ++h) {
    copy_block(b.rows, s.head_dim, s.scale, item.call->q[item.first_row] + (first + h) * s.head_dim,
               item.call->q.stride, {b.q + h * b.rows * b.q_stride, b.q_stride});
  }
  for (int64_t j = 0; j < heads * b.rows * b.v_stride; ++j) b.out[j] = 0;
  for (int64_t j = 0; j < heads * b.rows; ++j) {
    b.most[j] = -INFINITY;
    b.total[j] = 0;
  }
}

// A row that saw no key gives zeros.
ONCEOVER_LEAF void finish_paged(const PagedItem& item, const PagedBlock& b) {
  const AttendShape& s = item.call->shape;
  const int64_t first = item.first_head * s.group();
  for (int64_t h = 0; h < b.heads * s.group(); ++h) {
    for (int64_t i = 0; i < b.rows; ++i) {
      const int64_t from = h * b.rows + i, row = item.first_row + i;
      const float *out = b.out + from * b.v_stride, total = b.total[from];
      if (item.partial) {
        float* y = item.partial + (row * s.heads + first + h) * partial_floats(s);
        std::memcpy(y, out, sizeof(float) * static_cast<size_t>(s.v_head_dim));
        y[s.v_head_dim] = b.most[from];
        y[s.v_head_dim + 1] = total;
        continue;
      }
      const float divide = total > 0 ? 1 / total : 0;
      float* y = item.call->y[row] + (first + h) * s.v_head_dim;
      for (int64_t j = 0; j < s.v_head_dim; ++j) y[j] = out[j] * divide;
    }
  }
}

ONCEOVER_LEAF void attend_paged(const PagedItem& item, float* scratch) {
  const PagedCall& call = *item.call;
  const PagedBlock b = paged_block(item, scratch);
  start_paged(item, b);
  const int64_t rows = call.shape.group() * b.rows, end_key = call.shape.end_visible(item.end_row - 1);
  for (int64_t page = item.first_page; page < item.end_page; ++page) {
    const int64_t key = page * page_rows, count = end_key - key < page_rows ? end_key - key : page_rows;
    for (int64_t head = item.first_head; head < item.end_head; ++head) {
      const bool last = head + 1 == item.end_head;
      const int64_t next_page = last ? page + 1 : page, next_head = last ? item.first_head : head + 1;
      const bool more = next_page < item.end_page;
      const float* keys = key_tile(call.k.layout, call.k.part(page, head),
                                   more ? call.k.part(next_page, next_head) : nullptr, b.keys);
      const float* values =
          value_tile(call.v.layout, count, call.v.part(page, head),
                     more ? call.v.part(next_page, next_head) : nullptr, b.across, b.values);
      const int64_t first = (head - item.first_head) * rows;
      for (int64_t row = first; row < first + rows; row += panel_rows) {
        const int64_t n = first + rows - row < panel_rows ? first + rows - row : panel_rows;
        paged_panel(item, b, keys, values, row, n, key, count);
      }
    }
  }
  finish_paged(item, b);
}

// One row of one query head: the partial results `stride` floats apart, put together in order.
ONCEOVER_LEAF void combine_partials(int64_t parts, int64_t width, const float* partial, int64_t stride,
                                    float* y) {
  float most = -INFINITY, total = 0;
  for (int64_t p = 0; p < parts; ++p) {
    const float m = partial[p * stride + width];
    most = m > most ? m : most;
  }
  for (int64_t j = 0; j < width; ++j) y[j] = 0;
  for (int64_t p = 0; p < parts; ++p) {
    const float* from = partial + p * stride;
    if (!(from[width + 1] > 0)) continue;
    const float factor = exp8(splat(from[width] - most))[0];
    total += from[width + 1] * factor;
    add_scaled(width, factor, from, y);
  }
  const float divide = total > 0 ? 1 / total : 0;
  for (int64_t j = 0; j < width; ++j) y[j] *= divide;
}

}  // namespace onceover::kernels::ONCEOVER_ISA
