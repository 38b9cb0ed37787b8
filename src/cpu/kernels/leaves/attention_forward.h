// One block of query rows against all the keys it sees: 64 keys at a time, transposed and copied once for the
// whole block; then, for each panel of panel_rows queries, scores, online softmax and the product with the
// values, all in the L1 cache.
#pragma once
#include "cpu/kernels/buffer.h"
#include "cpu/kernels/leaves.h"
#include "cpu/kernels/leaves/tile.h"

namespace onceover::kernels::ONCEOVER_ISA {

constexpr int64_t forward_keys = 64;

// Scratch of one block. Row i of query head g of the group is row g * rows + i of q, out, most and total.
struct ForwardBlock {
  int64_t floats;  // of scratch
  int64_t rows, q_stride, v_stride;
  float* q;             // [group * rows, head_dim], times the scale
  float* keys;          // [head_dim, forward_keys]
  float* values;        // [forward_keys, v_head_dim]
  float* out;           // [group * rows, v_head_dim], not yet divided by the total
  float *most, *total;  // [group * rows]: running maximum of the scores, sum of exp(score - most)
  float* scores;        // [panel_rows, forward_keys]
};

ONCEOVER_LEAF ForwardBlock forward_block(const AttendShape& s, int64_t rows, float* scratch) {
  ForwardBlock b{};
  b.rows = rows;
  b.q_stride = padded(s.head_dim);
  b.v_stride = padded(s.v_head_dim);
  const int64_t all = s.group() * rows;
  Carver part{scratch};
  b.keys = part.take(s.head_dim * forward_keys);
  b.values = part.take(forward_keys * b.v_stride);
  b.scores = part.take(panel_rows * forward_keys);
  b.q = part.take(all * b.q_stride);
  b.out = part.take(all * b.v_stride);
  b.most = part.take(all);
  b.total = part.take(all);
  b.floats = part.used;
  return b;
}

ONCEOVER_LEAF int64_t attend_forward_scratch(const AttendShape& s, int64_t rows) {
  return forward_block(s, rows, nullptr).floats;
}

// scores[from, to) become exp(score - most), zero outside [first, end); the row's state follows.
ONCEOVER_LEAF void softmax_row(float* scores, int64_t from, int64_t to, int64_t first, int64_t end,
                               float& most, float& total, float* out, int64_t width) {
  v8 m = splat(-INFINITY);
  if (first > from || end < to) {
    for (int64_t j = from; j < to; ++j) scores[j] = j >= first && j < end ? scores[j] : -INFINITY;
  }
  for (int64_t j = from; j < to; j += 8) m = larger(load(scores + j), m);
  const float tile_most = largest(m);
  if (tile_most > most) {
    const float shrink = exp8(splat(most - tile_most))[0];
    for (int64_t j = 0; j < width; j += 8) store(out + j, load(out + j) * shrink);
    total *= shrink;
    most = tile_most;
  }
  const float shift = most == -INFINITY ? 0 : most;
  v8 added{};
  for (int64_t j = from; j < to; j += 8) {
    const v8 p = exp8(load(scores + j) - shift);
    store(scores + j, p);
    added += p;
  }
  total += sum(added);
}

// Queries at block rows i .. i + n - 1 of query head g against `count` keys from `first_key` on.
ONCEOVER_LEAF void forward_panel(const AttendShape& s, const ForwardBlock& b, int64_t sequence,
                                 int64_t first_row, int64_t g, int64_t i, int64_t n, int64_t first_key,
                                 int64_t count) {
  const int64_t first = s.first_visible(sequence, first_row + i) - first_key;
  const int64_t end = s.end_visible(first_row + i + n - 1) - first_key;
  const int64_t from = first > 0 ? first / tile_columns * tile_columns : 0;
  const int64_t to = end < count ? end : count;
  if (from >= to) return;
  const int64_t row = g * b.rows + i;
  multiply(n, padded(to - from), s.head_dim, {b.q + row * b.q_stride, b.q_stride, 1},
           {b.keys + from, forward_keys}, {b.scores + from, forward_keys}, false);
  for (int64_t r = 0; r < n; ++r) {
    softmax_row(b.scores + r * forward_keys, from, from + padded(to - from),
                s.first_visible(sequence, first_row + i + r) - first_key,
                s.end_visible(first_row + i + r) - first_key, b.most[row + r], b.total[row + r],
                b.out + (row + r) * b.v_stride, b.v_stride);
  }
  multiply(n, b.v_stride, to - from, {b.scores + from, forward_keys, 1},
           {b.values + from * b.v_stride, b.v_stride}, {b.out + row * b.v_stride, b.v_stride}, true);
}

ONCEOVER_LEAF void start_block(const AttendForwardCall& call, const ForwardBlock& b, int64_t sequence,
                               int64_t kv_head, int64_t first_row) {
  const AttendShape& s = call.shape;
  for (int64_t g = 0; g < s.group(); ++g) {
    const int64_t head = kv_head * s.group() + g;
    copy_block(b.rows, s.head_dim, s.scale, call.q[sequence * s.q_rows + first_row] + head * s.head_dim,
               call.q.stride, {b.q + g * b.rows * b.q_stride, b.q_stride});
  }
  for (int64_t j = 0; j < s.group() * b.rows * b.v_stride; ++j) b.out[j] = 0;
  for (int64_t j = 0; j < s.group() * b.rows; ++j) {
    b.most[j] = -INFINITY;
    b.total[j] = 0;
  }
}

ONCEOVER_LEAF void finish_block(const AttendForwardCall& call, const ForwardBlock& b, int64_t sequence,
                                int64_t kv_head, int64_t first_row) {
  const AttendShape& s = call.shape;
  for (int64_t g = 0; g < s.group(); ++g) {
    const int64_t head = kv_head * s.group() + g;
    for (int64_t i = 0; i < b.rows; ++i) {
      const int64_t row = sequence * s.q_rows + first_row + i, from = g * b.rows + i;
      const float total = b.total[from], divide = total > 0 ? 1 / total : 0;
      float* y = call.y[row] + head * s.v_head_dim;
      for (int64_t j = 0; j < s.v_head_dim; ++j) y[j] = b.out[from * b.v_stride + j] * divide;
      if (call.log_sum_exp) {
        call.log_sum_exp[row * s.heads + head] = total > 0 ? b.most[from] + std::log(total) : -INFINITY;
      }
    }
  }
}

// Asks for the share `part` of `parts` of the next tile's keys and values, so that they wait in the cache
// when their turn comes: rows of one head lie far apart, which the hardware does not foresee.
ONCEOVER_LEAF void prefetch_tile(const AttendForwardCall& call, int64_t sequence, int64_t kv_head,
                                 int64_t key, int64_t part, int64_t parts) {
  const AttendShape& s = call.shape;
  const int64_t end = key + (part + 1) * forward_keys / parts;
  for (int64_t row = key + part * forward_keys / parts; row < end && row < s.k_rows; ++row) {
    const float* k = call.k[sequence * s.k_rows + row] + kv_head * s.head_dim;
    const float* v = call.v[sequence * s.k_rows + row] + kv_head * s.v_head_dim;
    for (int64_t j = 0; j < s.head_dim; j += 16) __builtin_prefetch(k + j);
    for (int64_t j = 0; j < s.v_head_dim; j += 16) __builtin_prefetch(v + j);
  }
}

ONCEOVER_LEAF void attend_forward(const AttendForwardCall& call, int64_t sequence, int64_t kv_head,
                                  int64_t first_row, int64_t end_row, float* scratch) {
  const AttendShape& s = call.shape;
  const ForwardBlock b = forward_block(s, end_row - first_row, scratch);
  start_block(call, b, sequence, kv_head, first_row);
  const int64_t end_key = s.end_visible(end_row - 1), panels = (b.rows + panel_rows - 1) / panel_rows;
  for (int64_t key = s.first_visible(sequence, first_row); key < end_key; key += forward_keys) {
    const int64_t count = end_key - key < forward_keys ? end_key - key : forward_keys;
    const int64_t row = sequence * s.k_rows + key;
    transpose_block(count, s.head_dim, call.k[row] + kv_head * s.head_dim, call.k.stride,
                    {b.keys, forward_keys});
    copy_block(count, s.v_head_dim, 1, call.v[row] + kv_head * s.v_head_dim, call.v.stride,
               {b.values, b.v_stride});
    for (int64_t panel = 0; panel < s.group() * panels; ++panel) {
      prefetch_tile(call, sequence, kv_head, key + forward_keys, panel, s.group() * panels);
      const int64_t i = panel % panels * panel_rows, n = b.rows - i < panel_rows ? b.rows - i : panel_rows;
      forward_panel(s, b, sequence, first_row, panel / panels, i, n, key, count);
    }
  }
  finish_block(call, b, sequence, kv_head, first_row);
}

}  // namespace onceover::kernels::ONCEOVER_ISA
