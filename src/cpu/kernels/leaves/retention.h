// Gated retention of one head of one sequence, 64 rows at a time. With b_n the sum of log γ from the chunk's
// start to row n:
//
//   y_n = scale (Σ_{m<=n} e^(b_n - b_m) (q_n · k_m) v_m + e^(b_n) q_n S),  S' = e^(b_end) S + Σ_m e^(b_end -
//   b_m) k_mᵀ v_m
//
// Every exponent is a difference that is never positive, so nothing overflows.
#pragma once
#include "cpu/kernels/buffer.h"
#include "cpu/kernels/leaves.h"
#include "cpu/kernels/leaves/rows.h"
#include "cpu/kernels/leaves/tile.h"

namespace onceover::kernels::ONCEOVER_ISA {

constexpr int64_t retain_chunk = 64;

// log sigmoid(x) / temperature
ONCEOVER_LEAF float log_gamma(float x, float temperature) {
  const float log_sigmoid = x < 0 ? x - std::log1p(std::exp(x)) : -std::log1p(std::exp(-x));
  return log_sigmoid / temperature;
}

// sums[n] = log γ_first + … + log γ_(first + n)
ONCEOVER_LEAF void sum_log_gammas(const RetainShape& s, Input decay, int64_t first_row, int64_t head,
                                  int64_t rows, float* sums) {
  double total = 0;
  for (int64_t n = 0; n < rows; ++n) {
    total += log_gamma(decay[first_row + n][head], s.temperature);
    sums[n] = static_cast<float>(total);
  }
}

// scores[n][m] *= e^(sums[n] - sums[m]) for m <= n, 0 for later m.
ONCEOVER_LEAF void decay_scores(int64_t rows, const float* sums, float* scores) {
  for (int64_t n = 0; n < rows; ++n) {
    float* row = scores + n * retain_chunk;
    for (int64_t m = 0; m <= n; m += 8) store(row + m, load(row + m) * exp8(sums[n] - load(sums + m)));
    for (int64_t m = n + 1; m < padded(rows); ++m) row[m] = 0;
  }
}

ONCEOVER_LEAF void scale_block(int64_t columns, float scale, const float* from, float* to) {
  for (int64_t j = 0; j < columns; j += 8) store(to + j, load(from + j) * scale);
}

// state = e^(sums[rows - 1]) state + Σ_m e^(sums[rows - 1] - sums[m]) k_mᵀ v_m. k_faded receives the faded
// keys.
ONCEOVER_LEAF void advance_state(const RetainShape& s, int64_t rows, const float* sums, const float* k,
                                 const float* v, float* k_faded, float* state) {
  const int64_t k_stride = padded(s.head_dim), v_stride = padded(s.v_head_dim);
  const float last = sums[rows - 1];
  for (int64_t m = 0; m < rows; ++m) {
    scale_block(k_stride, exp8(splat(last - sums[m]))[0], k + m * k_stride, k_faded + m * k_stride);
  }
  scale_block(s.head_dim * v_stride, exp8(splat(last))[0], state, state);
  multiply(s.head_dim, v_stride, rows, {k_faded, 1, k_stride}, {v, v_stride}, {state, v_stride}, true);
}

struct RetainScratch {
  int64_t floats;  // of scratch
  int64_t k_stride, v_stride;
  float *q, *k, *faded;  // [retain_chunk, head_dim], q times the scale
  float* k_across;       // [head_dim, retain_chunk]
  float *v, *y;          // [retain_chunk, v_head_dim]
  float *scores, *sums;  // [retain_chunk, retain_chunk], [retain_chunk]
  float* state;          // [head_dim, v_head_dim]
};

ONCEOVER_LEAF RetainScratch retain_scratch(const RetainShape& s, float* scratch) {
  RetainScratch b{};
  b.k_stride = padded(s.head_dim);
  b.v_stride = padded(s.v_head_dim);
  Carver part{scratch};
  b.q = part.take(retain_chunk * b.k_stride);
  b.k = part.take(retain_chunk * b.k_stride);
  b.faded = part.take(retain_chunk * b.k_stride);
  b.k_across = part.take(s.head_dim * retain_chunk);
  b.v = part.take(retain_chunk * b.v_stride);
  b.y = part.take(retain_chunk * b.v_stride);
  b.scores = part.take(retain_chunk * retain_chunk);
  b.sums = part.take(retain_chunk);
  b.state = part.take(s.head_dim * b.v_stride);
  b.floats = part.used;
  return b;
}

ONCEOVER_LEAF int64_t retain_forward_scratch(const RetainShape& s) {
  return retain_scratch(s, nullptr).floats;
}

ONCEOVER_LEAF void retain_forward_chunk(const RetainForwardCall& call, const RetainScratch& b, int64_t row,
                                        int64_t head, int64_t rows) {
  const RetainShape& s = call.shape;
  const float* k = call.k[row] + head * s.head_dim;
  sum_log_gammas(s, call.decay, row, head, rows, b.sums);
  for (int64_t n = rows; n < padded(rows); ++n) b.sums[n] = b.sums[rows - 1];
  copy_block(rows, s.head_dim, s.scale, call.q[row] + head * s.head_dim, call.q.stride, {b.q, b.k_stride});
  copy_block(rows, s.head_dim, 1, k, call.k.stride, {b.k, b.k_stride});
  copy_block(rows, s.v_head_dim, 1, call.v[row] + head * s.v_head_dim, call.v.stride, {b.v, b.v_stride});
  transpose_block(rows, s.head_dim, k, call.k.stride, {b.k_across, retain_chunk});
  multiply(rows, padded(rows), s.head_dim, {b.q, b.k_stride, 1}, {b.k_across, retain_chunk},
           {b.scores, retain_chunk}, false);
  decay_scores(rows, b.sums, b.scores);
  multiply(rows, b.v_stride, rows, {b.scores, retain_chunk, 1}, {b.v, b.v_stride}, {b.y, b.v_stride}, false);
  for (int64_t n = 0; n < rows; ++n) {
    scale_block(b.k_stride, exp8(splat(b.sums[n]))[0], b.q + n * b.k_stride, b.faded + n * b.k_stride);
  }
  multiply(rows, b.v_stride, s.head_dim, {b.faded, b.k_stride, 1}, {b.state, b.v_stride}, {b.y, b.v_stride},
           true);
  for (int64_t n = 0; n < rows; ++n) {
    std::memcpy(call.y[row + n] + head * s.v_head_dim, b.y + n * b.v_stride,
                sizeof(float) * static_cast<size_t>(s.v_head_dim));
  }
  advance_state(s, rows, b.sums, b.k, b.v, b.faded, b.state);
}

ONCEOVER_LEAF void retain_forward(const RetainForwardCall& call, int64_t sequence, int64_t head,
                                  float* scratch) {
  const RetainShape& s = call.shape;
  const RetainScratch b = retain_scratch(s, scratch);
  float* kept = call.state ? call.state + (sequence * s.heads + head) * s.head_dim * s.v_head_dim : nullptr;
  for (int64_t j = 0; j < s.head_dim * b.v_stride; ++j) b.state[j] = 0;
  if (kept) copy_block(s.head_dim, s.v_head_dim, 1, kept, s.v_head_dim, {b.state, b.v_stride});
  for (int64_t n = 0; n < s.rows; n += retain_chunk) {
    const int64_t rows = s.rows - n < retain_chunk ? s.rows - n : retain_chunk;
    retain_forward_chunk(call, b, sequence * s.rows + n, head, rows);
  }
  if (!kept) return;
  for (int64_t i = 0; i < s.head_dim; ++i) {
    std::memcpy(kept + i * s.v_head_dim, b.state + i * b.v_stride,
                sizeof(float) * static_cast<size_t>(s.v_head_dim));
  }
}

ONCEOVER_LEAF void retain_step(const RetainForwardCall& call, int64_t sequence, int64_t head) {
  const RetainShape& s = call.shape;
  const float gamma = std::exp(log_gamma(call.decay[sequence][head], s.temperature));
  const float *q = call.q[sequence] + head * s.head_dim, *k = call.k[sequence] + head * s.head_dim;
  const float* v = call.v[sequence] + head * s.v_head_dim;
  float* y = call.y[sequence] + head * s.v_head_dim;
  float* state = call.state + (sequence * s.heads + head) * s.head_dim * s.v_head_dim;
  for (int64_t j = 0; j < s.v_head_dim; ++j) y[j] = 0;
  for (int64_t i = 0; i < s.head_dim; ++i, state += s.v_head_dim) {
    int64_t j = 0;
    for (; j + 8 <= s.v_head_dim; j += 8) {
      const v8 row = load(state + j) * gamma + load(v + j) * k[i];
      store(state + j, row);
      store(y + j, load(y + j) + row * (q[i] * s.scale));
    }
    for (; j < s.v_head_dim; ++j) {
      state[j] = state[j] * gamma + v[j] * k[i];
      y[j] += state[j] * (q[i] * s.scale);
    }
  }
}

}  // namespace onceover::kernels::ONCEOVER_ISA
