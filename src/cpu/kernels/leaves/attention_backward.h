// The gradient of one key head of one sequence, for every query head that reads it: tile of keys by tile of
// queries, scores and probabilities computed again from log_sum_exp.
//
//   P = exp(S - log_sum_exp), dP = dY Vᵀ, dS = P (dP - rowsum(dY Y)); dV += Pᵀ dY, dK += dSᵀ Q, dQ += dS K
#pragma once
#include "cpu/kernels/buffer.h"
#include "cpu/kernels/leaves.h"
#include "cpu/kernels/leaves/rows.h"
#include "cpu/kernels/leaves/tile.h"

namespace onceover::kernels::ONCEOVER_ISA {

constexpr int64_t gradient_tile = 96;  // keys, and queries, of a tile; a multiple of 6 and of 16

struct BackwardScratch {
  int64_t floats;  // of scratch
  int64_t q_stride, v_stride;
  float *keys_across, *values_across;  // [head_dim | v_head_dim, gradient_tile]
  float* keys;                         // [gradient_tile, head_dim]
  float *dk, *dv;                      // [gradient_tile, head_dim | v_head_dim]
  float *q, *dy;                       // [gradient_tile, head_dim | v_head_dim], q times the scale
  float *p, *ds;                       // [gradient_tile, gradient_tile]
  float* dq;                           // [panel_rows, head_dim]
  float* along;                        // [group, q_rows]: rowsum(dY Y)
};

ONCEOVER_LEAF BackwardScratch backward_scratch(const AttendShape& s, float* scratch) {
  BackwardScratch b{};
  b.q_stride = padded(s.head_dim);
  b.v_stride = padded(s.v_head_dim);
  Carver part{scratch};
  b.keys_across = part.take(s.head_dim * gradient_tile);
  b.values_across = part.take(s.v_head_dim * gradient_tile);
  b.keys = part.take(gradient_tile * b.q_stride);
  b.dk = part.take(gradient_tile * b.q_stride);
  b.dv = part.take(gradient_tile * b.v_stride);
  b.q = part.take(gradient_tile * b.q_stride);
  b.dy = part.take(gradient_tile * b.v_stride);
  b.p = part.take(gradient_tile * gradient_tile);
  b.ds = part.take(gradient_tile * gradient_tile);
  b.dq = part.take(panel_rows * b.q_stride);
  b.along = part.take(s.group() * s.q_rows);
  b.floats = part.used;
  return b;
}

ONCEOVER_LEAF int64_t attend_backward_scratch(const AttendShape& s) {
  return backward_scratch(s, nullptr).floats;
}

// p: scores in, probabilities out. ds: dP in, dS out. Zero outside [first, end).
ONCEOVER_LEAF void gradient_row(float* p, float* ds, int64_t from, int64_t to, int64_t first, int64_t end,
                                float log_sum_exp, float along) {
  for (int64_t j = from; j < to; j += 8) {
    const v8 probability = exp8(load(p + j) - log_sum_exp);
    store(p + j, probability);
    store(ds + j, probability * (load(ds + j) - along));
  }
  for (int64_t j = from; j < to && j < first; ++j) p[j] = ds[j] = 0;
  for (int64_t j = end > from ? end : from; j < to; ++j) p[j] = ds[j] = 0;
}

ONCEOVER_LEAF void clear(float* x, int64_t from, int64_t to) {
  for (int64_t j = from; j < to; ++j) x[j] = 0;
}

// A tile of gradient_tile keys from `key` on, `keys` of them real, against one of queries from `row` on.
struct TileOf {
  int64_t sequence, head, key, keys, row, rows;
};

// Rows i .. i + n - 1 of the tile: p, ds and their part of dq.
ONCEOVER_LEAF void backward_queries(const AttendBackwardCall& call, const BackwardScratch& b, const TileOf& t,
                                    int64_t i, int64_t n) {
  const AttendShape& s = call.shape;
  float *p = b.p + i * gradient_tile, *ds = b.ds + i * gradient_tile;
  const int64_t first = s.first_visible(t.sequence, t.row + i) - t.key,
                end = s.end_visible(t.row + i + n - 1) - t.key;
  const int64_t to = end < t.keys ? end : t.keys;
  const int64_t from = first > 0 ? first / tile_columns * tile_columns : 0;
  const int64_t width = from < to ? padded(to - from) : 0;
  for (int64_t r = 0; r < n; ++r) {
    for (float* x : {p + r * gradient_tile, ds + r * gradient_tile}) {
      if (width == 0 || from > 0) clear(x, 0, width == 0 ? gradient_tile : from);
      if (width > 0) clear(x, from + width, gradient_tile);
    }
  }
  if (width == 0) return;
  multiply(n, width, s.head_dim, {b.q + i * b.q_stride, b.q_stride, 1}, {b.keys_across + from, gradient_tile},
           {p + from, gradient_tile}, false);
  multiply(n, width, s.v_head_dim, {b.dy + i * b.v_stride, b.v_stride, 1},
           {b.values_across + from, gradient_tile}, {ds + from, gradient_tile}, false);
  for (int64_t r = 0; r < n; ++r) {
    const int64_t row = t.row + i + r;
    gradient_row(p + r * gradient_tile, ds + r * gradient_tile, from, from + width,
                 s.first_visible(t.sequence, row) - t.key, s.end_visible(row) - t.key,
                 call.log_sum_exp[(t.sequence * s.q_rows + row) * s.heads + t.head],
                 b.along[(t.head % s.group()) * s.q_rows + row]);
  }
  if (!call.dq) return;
  multiply(n, b.q_stride, to - from, {ds + from, gradient_tile, 1}, {b.keys + from * b.q_stride, b.q_stride},
           {b.dq, b.q_stride}, false);
  add_block(n, s.head_dim, s.scale, {b.dq, b.q_stride},
            call.dq[t.sequence * s.q_rows + t.row + i] + t.head * s.head_dim, call.dq.stride);
}

// Keys j .. j + n - 1 of the tile: dk and dv from the queries that see them.
ONCEOVER_LEAF void backward_keys(const AttendShape& s, const BackwardScratch& b, const TileOf& t, int64_t j,
                                 int64_t n) {
  const int64_t diagonal = t.key + j - s.q_offset - t.row;  // the row that stands at key j
  const int64_t from = diagonal > 0 ? diagonal : 0;
  int64_t to = t.rows;
  if (s.window > 0 && diagonal + n - 1 + s.window < to) to = diagonal + n - 1 + s.window;
  if (from >= to) return;
  const int64_t corner = from * gradient_tile + j;
  multiply(n, b.v_stride, to - from, {b.p + corner, 1, gradient_tile}, {b.dy + from * b.v_stride, b.v_stride},
           {b.dv + j * b.v_stride, b.v_stride}, true);
  multiply(n, b.q_stride, to - from, {b.ds + corner, 1, gradient_tile}, {b.q + from * b.q_stride, b.q_stride},
           {b.dk + j * b.q_stride, b.q_stride}, true);
}

ONCEOVER_LEAF void backward_tile(const AttendBackwardCall& call, const BackwardScratch& b, const TileOf& t) {
  const AttendShape& s = call.shape;
  const int64_t row = t.sequence * s.q_rows + t.row;
  copy_block(t.rows, s.head_dim, s.scale, call.q[row] + t.head * s.head_dim, call.q.stride,
             {b.q, b.q_stride});
  copy_block(t.rows, s.v_head_dim, 1, call.dy[row] + t.head * s.v_head_dim, call.dy.stride,
             {b.dy, b.v_stride});
  for (int64_t i = 0; i < t.rows; i += panel_rows) {
    backward_queries(call, b, t, i, t.rows - i < panel_rows ? t.rows - i : panel_rows);
  }
  for (int64_t j = 0; j < t.keys; j += panel_rows) {
    backward_keys(s, b, t, j, t.keys - j < panel_rows ? t.keys - j : panel_rows);
  }
}

ONCEOVER_LEAF void sum_along(const AttendBackwardCall& call, const BackwardScratch& b, int64_t sequence,
                             int64_t kv_head) {
  const AttendShape& s = call.shape;
  for (int64_t g = 0; g < s.group(); ++g) {
    const int64_t column = (kv_head * s.group() + g) * s.v_head_dim;
    for (int64_t i = 0; i < s.q_rows; ++i) {
      const int64_t row = sequence * s.q_rows + i;
      b.along[g * s.q_rows + i] = dot(s.v_head_dim, call.dy[row] + column, call.y[row] + column);
    }
  }
}

// The first query row past those that see a key before end_key.
ONCEOVER_LEAF int64_t end_of_queries(const AttendShape& s, int64_t sequence, int64_t end_key) {
  int64_t low = 0, high = s.q_rows;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (s.first_visible(sequence, middle) < end_key)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

ONCEOVER_LEAF void backward_key_tile(const AttendBackwardCall& call, const BackwardScratch& b,
                                     int64_t sequence, int64_t kv_head, int64_t key) {
  const AttendShape& s = call.shape;
  const int64_t keys = s.k_rows - key < gradient_tile ? s.k_rows - key : gradient_tile;
  const int64_t first_row = key > s.q_offset ? key - s.q_offset : 0,
                end_row = end_of_queries(s, sequence, key + keys);
  if (first_row >= end_row) return;
  const int64_t row = sequence * s.k_rows + key;
  const float *k = call.k[row] + kv_head * s.head_dim, *v = call.v[row] + kv_head * s.v_head_dim;
  transpose_block(keys, s.head_dim, k, call.k.stride, {b.keys_across, gradient_tile});
  transpose_block(keys, s.v_head_dim, v, call.v.stride, {b.values_across, gradient_tile});
  copy_block(keys, s.head_dim, 1, k, call.k.stride, {b.keys, b.q_stride});
  clear(b.dk, 0, keys * b.q_stride);
  clear(b.dv, 0, keys * b.v_stride);
  for (int64_t g = 0; g < s.group(); ++g) {
    for (int64_t i = first_row; i < end_row; i += gradient_tile) {
      const int64_t rows = end_row - i < gradient_tile ? end_row - i : gradient_tile;
      backward_tile(call, b, {sequence, kv_head * s.group() + g, key, keys, i, rows});
    }
  }
  if (call.dk)
    add_block(keys, s.head_dim, 1, {b.dk, b.q_stride}, call.dk[row] + kv_head * s.head_dim, call.dk.stride);
  if (call.dv) {
    add_block(keys, s.v_head_dim, 1, {b.dv, b.v_stride}, call.dv[row] + kv_head * s.v_head_dim,
              call.dv.stride);
  }
}

ONCEOVER_LEAF void attend_backward(const AttendBackwardCall& call, int64_t sequence, int64_t kv_head,
                                   float* scratch) {
  const BackwardScratch b = backward_scratch(call.shape, scratch);
  sum_along(call, b, sequence, kv_head);
  for (int64_t key = 0; key < call.shape.k_rows; key += gradient_tile) {
    backward_key_tile(call, b, sequence, kv_head, key);
  }
}

}  // namespace onceover::kernels::ONCEOVER_ISA
