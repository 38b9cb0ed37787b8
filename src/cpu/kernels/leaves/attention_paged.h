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

// A page's part as the right side of a product: row k, 8 columns from j on, in f32. Numbers that few query
// rows pass are widened in the registers: a widened copy would not fit the L1 cache beside what is read.
template <class T>
struct StoredPart {
  const T* data;
  int64_t row;
  const std::byte* next;  // the part that is read next, or null

  ONCEOVER_TARGET v8 operator()(int64_t k, int64_t j) const { return widen(data + k * row + j); }
  // Asks for the lines of `next` that lie where columns j .. j + columns - 1 do.
  ONCEOVER_TARGET void ahead(int64_t k, int64_t j, int64_t columns) const {
    for (int64_t at = j; at < j + columns; at += 16) {
      const int64_t byte = (k * row + at) * static_cast<int64_t>(sizeof(T));
      if (byte % 64 == 0) prefetch(next, byte);
    }
  }
};

struct KeysQ8 : StoredPart<int8_t> {
  const float* scales;
  ONCEOVER_TARGET v8 operator()(int64_t k, int64_t j) const {
    return widen(data + k * row + j) * load(scales + k / scale_columns * page_rows + j);
  }
};

struct ValuesQ8 : StoredPart<int8_t> {
  const float* scales;
  int64_t blocks;
  ONCEOVER_TARGET v8 operator()(int64_t k, int64_t j) const {
    return widen(data + k * row + j) * splat(scales[k * blocks + j / scale_columns]);
  }
};

// The part of the depth that a product takes at once.
struct DepthRange {
  int64_t first, end;
};

// c[rows, 8 vectors] = (add ? c : 0) + a[rows, depth] b[depth, j ..]: as many sums under way at once as hide
// the latency of an addition.
template <int64_t rows, int64_t vectors, class B>
ONCEOVER_LEAF_INLINE void multiply_stored_tile(DepthRange depth, TileA a, const B& b, int64_t j, TileC c,
                                               bool add) {
  v8 sums[rows][vectors];
#pragma GCC unroll 8
  for (int64_t r = 0; r < rows; ++r) {
#pragma GCC unroll 8
    for (int64_t v = 0; v < vectors; ++v) sums[r][v] = add ? load(c.data + r * c.row + j + 8 * v) : v8{};
  }
  for (int64_t k = depth.first; k < depth.end; ++k) {
    b.ahead(k, j, 8 * vectors);
    v8 right[vectors];
#pragma GCC unroll 8
    for (int64_t v = 0; v < vectors; ++v) right[v] = b(k, j + 8 * v);
#pragma GCC unroll 8
    for (int64_t r = 0; r < rows; ++r) {
      const v8 left = splat(a.data[r * a.row + k * a.column]);
#pragma GCC unroll 8
      for (int64_t v = 0; v < vectors; ++v) sums[r][v] += left * right[v];
    }
  }
#pragma GCC unroll 8
  for (int64_t r = 0; r < rows; ++r) {
#pragma GCC unroll 8
    for (int64_t v = 0; v < vectors; ++v) store(c.data + r * c.row + j + 8 * v, sums[r][v]);
  }
}

// Up to so many rows of a block read pages as they are stored.
constexpr int64_t stored_rows = 6;

template <int64_t rows, int64_t vectors, class B>
ONCEOVER_LEAF_INLINE void multiply_stored_rows(int64_t first, int64_t end, DepthRange depth, TileA a,
                                               const B& b, TileC c, bool add) {
  int64_t j = first;
  for (; j + 8 * vectors <= end; j += 8 * vectors) {
    multiply_stored_tile<rows, vectors>(depth, a, b, j, c, add);
  }
  for (; j < end; j += tile_columns) multiply_stored_tile<rows, 2>(depth, a, b, j, c, add);
}

template <class B>
ONCEOVER_LEAF_INLINE void multiply_stored_some(int64_t rows, int64_t first, int64_t end, DepthRange depth,
                                               TileA a, const B& b, TileC c, bool add) {
  switch (rows) {
    case 1:
      return multiply_stored_rows<1, 8>(first, end, depth, a, b, c, add);
    case 2:
      return multiply_stored_rows<2, 4>(first, end, depth, a, b, c, add);
    case 3:
      return multiply_stored_rows<3, 2>(first, end, depth, a, b, c, add);
    case 4:
      return multiply_stored_rows<4, 2>(first, end, depth, a, b, c, add);
    case 5:
      return multiply_stored_rows<5, 2>(first, end, depth, a, b, c, add);
    default:
      return multiply_stored_rows<6, 2>(first, end, depth, a, b, c, add);
  }
}

// Columns first .. end - 1 of c, both multiples of 16. A few rows of b at a time, so that a part is read from
// memory in order though a tile is narrower than its rows.
template <class B>
ONCEOVER_LEAF void multiply_stored(int64_t rows, int64_t first, int64_t end, int64_t depth, TileA a,
                                   const B& b, TileC c, bool add) {
  constexpr int64_t depth_at_once = 16;
  for (int64_t k = 0; k < depth; k += depth_at_once) {
    const int64_t to = depth - k < depth_at_once ? depth : k + depth_at_once;
    multiply_stored_some(rows, first, end, {k, to}, a, b, c, add || k > 0);
  }
}

// The keys and values of one head in one page, to be multiplied: as stored, or widened.
template <class Keys, class Values>
struct StoredTile {
  Keys keys;
  Values values;

  ONCEOVER_TARGET void scores(int64_t n, int64_t from, int64_t end, int64_t depth, TileA q, TileC to) const {
    multiply_stored(n, from, end, depth, q, keys, to, false);
  }
  // Values from row `from` on.
  ONCEOVER_TARGET void add_values(int64_t n, int64_t width, int64_t from, int64_t count, TileA p,
                                  TileC to) const {
    Values rest = values;
    rest.data += from * rest.row;
    if constexpr (requires { rest.blocks; }) rest.scales += from * rest.blocks;
    if (rest.next) rest.next += from * rest.row * static_cast<int64_t>(sizeof(*rest.data));
    multiply_stored(n, 0, width, count, p, rest, to, true);
  }
};

struct WidenedTile {
  const float *keys, *values;
  int64_t v_stride;

  ONCEOVER_TARGET void scores(int64_t n, int64_t from, int64_t end, int64_t depth, TileA q, TileC to) const {
    multiply(n, end - from, depth, q, {keys + from, page_rows}, {to.data + from, to.row}, false);
  }
  ONCEOVER_TARGET void add_values(int64_t n, int64_t width, int64_t from, int64_t count, TileA p,
                                  TileC to) const {
    multiply(n, width, count, p, {values + from * v_stride, v_stride}, to, true);
  }
};

// Keys of a tile: `first` .. end - 1, none where first >= end.
struct KeyRange {
  int64_t first, end;
};

// Which of the `count` keys from `first_key` on a block row sees.
ONCEOVER_LEAF_INLINE KeyRange seen_keys(const PagedItem& item, const PagedBlock& b, int64_t row,
                                        int64_t first_key, int64_t count) {
  const AttendShape& s = item.call->shape;
  const int64_t place = item.first_row + row % b.rows;
  const int64_t first = s.first_visible(0, place) - first_key, end = s.end_visible(place) - first_key;
  return {first > 0 ? first : 0, end < count ? end : count};
}

// Adds the values that each of n block rows sees; n is at most tile_rows unless all see the same. Weighing
// the others by 0 would not do: 0 times a value that is not finite is NaN, in a row that does not see it.
// `seen` is of each row.
template <class Tile>
ONCEOVER_LEAF_INLINE void add_seen_values(const PagedBlock& b, const Tile& tile, int64_t n,
                                          const KeyRange* seen, const float* scores, float* out) {
  const auto add = [&](int64_t r, int64_t rows, int64_t first, int64_t end) __attribute__((always_inline)) {
    if (first >= end) return;
    tile.add_values(rows, b.v_stride, first, end - first, {scores + r * page_rows + first, page_rows, 1},
                    {out + r * b.v_stride, b.v_stride});
  };
  KeyRange common = seen[0];
  bool same = true;
  for (int64_t r = 1; r < n; ++r) {
    same = same && seen[r].first == seen[0].first && seen[r].end == seen[0].end;
    common.first = seen[r].first > common.first ? seen[r].first : common.first;
    common.end = seen[r].end < common.end ? seen[r].end : common.end;
  }
  if (same) return add(0, n, common.first, common.end);
  if (common.first >= common.end) common = {page_rows, page_rows};
  for (int64_t r = 0; r < n; ++r) {
    add(r, 1, seen[r].first, common.first < seen[r].end ? common.first : seen[r].end);
  }
  add(0, n, common.first, common.end);
  for (int64_t r = 0; r < n; ++r) {
    add(r, 1, common.end > seen[r].first ? common.end : seen[r].first, seen[r].end);
  }
}

// Block rows `row` .. row + n - 1 against the `count` keys from `first_key` on; n is at most panel_rows.
template <class Tile>
ONCEOVER_LEAF void paged_panel(const PagedItem& item, const PagedBlock& b, const Tile& tile, int64_t row,
                               int64_t n, int64_t first_key, int64_t count) {
  KeyRange seen[panel_rows];
  int64_t first = count, end = 0;
  bool same = true;
  for (int64_t r = 0; r < n; ++r) {
    seen[r] = seen_keys(item, b, row + r, first_key, count);
    same = same && seen[r].first == seen[0].first && seen[r].end == seen[0].end;
    first = seen[r].first < first ? seen[r].first : first;
    end = seen[r].end > end ? seen[r].end : end;
  }
  const int64_t from = first / tile_columns * tile_columns;
  if (from >= end) return;
  const int64_t last = from + padded(end - from);
  tile.scores(n, from, last, item.call->shape.head_dim, {b.q + row * b.q_stride, b.q_stride, 1},
              {b.scores, page_rows});
  for (int64_t r = 0; r < n; ++r) {
    softmax_row(b.scores + r * page_rows, from, last, seen[r].first, seen[r].end, b.most[row + r],
                b.total[row + r], b.out + (row + r) * b.v_stride, b.v_stride);
  }
  const int64_t at_once = same ? n : tile_rows;
  for (int64_t r = 0; r < n; r += at_once) {
    add_seen_values(b, tile, n - r < at_once ? n - r : at_once, seen + r, b.scores + r * page_rows,
                    b.out + (row + r) * b.v_stride);
  }
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

// Where an item is: one head of one page, and the block rows of that head.
struct PagedPlace {
  int64_t first_row, rows;
  int64_t first_key, count;
  const std::byte *keys, *values, *next_keys, *next_values;
};

// Few rows: the page as it is stored.
ONCEOVER_LEAF void attend_stored(const PagedItem& item, const PagedBlock& b, const PagedPlace& at) {
  const PageLayout &k = item.call->k.layout, &v = item.call->v.layout;
  const auto panel = [&](const auto& tile) __attribute__((always_inline)) {
    paged_panel(item, b, tile, at.first_row, at.rows, at.first_key, at.count);
  };
  const auto plain = [&]<class T>(const T*) {
    panel(StoredTile<StoredPart<T>, StoredPart<T>>{
        {reinterpret_cast<const T*>(at.keys), page_rows, at.next_keys},
        {reinterpret_cast<const T*>(at.values), v.part, at.next_values}});
  };
  if (k.type == KvType::F32) return plain(static_cast<const float*>(nullptr));
  if (k.type == KvType::F16) return plain(static_cast<const uint16_t*>(nullptr));
  panel(StoredTile<KeysQ8, ValuesQ8>{
      {{reinterpret_cast<const int8_t*>(at.keys), page_rows, at.next_keys}, scales_of(k, at.keys)},
      {{reinterpret_cast<const int8_t*>(at.values), v.part, at.next_values},
       scales_of(v, at.values),
       v.blocks()}});
}

// Many rows: the page is widened once for all of them.
ONCEOVER_LEAF void attend_widened(const PagedItem& item, const PagedBlock& b, const PagedPlace& at) {
  const float* keys = key_tile(item.call->k.layout, at.keys, at.next_keys, b.keys);
  const float* values =
      value_tile(item.call->v.layout, at.count, at.values, at.next_values, b.across, b.values);
  const WidenedTile tile{keys, values, b.v_stride};
  for (int64_t i = 0; i < at.rows; i += panel_rows) {
    const int64_t n = at.rows - i < panel_rows ? at.rows - i : panel_rows;
    paged_panel(item, b, tile, at.first_row + i, n, at.first_key, at.count);
  }
}

ONCEOVER_LEAF void attend_paged(const PagedItem& item, float* scratch) {
  const PagedView &k = item.call->k, &v = item.call->v;
  const AttendShape& s = item.call->shape;
  const PagedBlock b = paged_block(item, scratch);
  start_paged(item, b);
  const int64_t rows = s.group() * b.rows, end_key = s.end_visible(item.end_row - 1);
  const bool stored = rows <= stored_rows && !v.layout.is_key && padded(v.layout.part) == v.layout.part;
  for (int64_t page = item.first_page; page < item.end_page; ++page) {
    const int64_t key = page * page_rows, count = end_key - key < page_rows ? end_key - key : page_rows;
    for (int64_t head = item.first_head; head < item.end_head; ++head) {
      const bool last = head + 1 == item.end_head;
      const int64_t next_page = last ? page + 1 : page, next_head = last ? item.first_head : head + 1;
      const bool more = next_page < item.end_page;
      const PagedPlace at{(head - item.first_head) * rows,
                          rows,
                          key,
                          count,
                          k.part(page, head),
                          v.part(page, head),
                          more ? k.part(next_page, next_head) : nullptr,
                          more ? v.part(next_page, next_head) : nullptr};
      if (stored) {
        attend_stored(item, b, at);
      } else {
        attend_widened(item, b, at);
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
    if (from[width + 1] == 0) continue;
    const float factor = exp8(splat(from[width] - most))[0];
    total += from[width + 1] * factor;
    add_scaled(width, factor, from, y);
  }
  const float divide = total == 0 ? 0 : 1 / total;
  for (int64_t j = 0; j < width; ++j) y[j] *= divide;
}

}  // namespace onceover::kernels::ONCEOVER_ISA
