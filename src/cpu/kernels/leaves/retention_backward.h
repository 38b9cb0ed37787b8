// The gradient of gated retention for one head of one sequence. A first pass keeps the state before every
// chunk; a second walks the chunks backwards with the gradient dS of the state after the chunk. With A_nm =
// e^(b_n - b_m) for m <= n, W = (Q Kᵀ) A and G = (dY Vᵀ) A, q times the scale:
//
//   dQ = G K + e^b dY Sᵀ        dK = Gᵀ Q + e^(b_end - b) V dS'ᵀ       dV = Wᵀ dY + e^(b_end - b) K dS'
//   dS = e^(b_end) dS' + (e^b Q)ᵀ dY
//   db_n = q_n · dq_n - k_n · dk_n (+ <dS', S'> at the end): q_n carries e^(b_n) in every term, k_n its
//   inverse.
#pragma once
#include "cpu/kernels/leaves/retention.h"

namespace onceover::kernels::ONCEOVER_ISA {

struct RetainGradient {
  int64_t floats;  // of scratch
  RetainScratch forward;
  float *v_across, *state_across;  // [v_head_dim, retain_chunk | head_dim]
  float *dy, *faded_v;             // [retain_chunk, v_head_dim]
  float *dq, *dk;                  // [retain_chunk, head_dim]
  float *g, *log_decay;            // [retain_chunk, retain_chunk], [retain_chunk]
  float* dstate;                   // [head_dim, v_head_dim]
  float* states;                   // [chunks + 1, head_dim, v_head_dim]
};

ONCEOVER_LEAF int64_t retain_chunks(const RetainShape& s) {
  return (s.rows + retain_chunk - 1) / retain_chunk;
}

ONCEOVER_LEAF RetainGradient retain_gradient(const RetainShape& s, float* scratch) {
  RetainGradient b{};
  b.forward = retain_scratch(s, scratch);
  Carver part{scratch, b.forward.floats};
  const int64_t k_stride = b.forward.k_stride, v_stride = b.forward.v_stride;
  b.v_across = part.take(s.v_head_dim * retain_chunk);
  b.state_across = part.take(s.v_head_dim * k_stride);
  b.dy = part.take(retain_chunk * v_stride);
  b.faded_v = part.take(retain_chunk * v_stride);
  b.dq = part.take(retain_chunk * k_stride);
  b.dk = part.take(retain_chunk * k_stride);
  b.g = part.take(retain_chunk * retain_chunk);
  b.log_decay = part.take(retain_chunk);
  b.dstate = part.take(s.head_dim * v_stride);
  b.states = part.take((retain_chunks(s) + 1) * s.head_dim * v_stride);
  b.floats = part.used;
  return b;
}

ONCEOVER_LEAF int64_t retain_backward_scratch(const RetainShape& s) {
  return retain_gradient(s, nullptr).floats;
}

ONCEOVER_LEAF void load_chunk(const RetainBackwardCall& call, const RetainScratch& b, int64_t row,
                              int64_t head, int64_t rows) {
  const RetainShape& s = call.shape;
  sum_log_gammas(s, call.decay, row, head, rows, b.sums);
  for (int64_t n = rows; n < padded(rows); ++n) b.sums[n] = b.sums[rows - 1];
  copy_block(rows, s.head_dim, 1, call.k[row] + head * s.head_dim, call.k.stride, {b.k, b.k_stride});
  copy_block(rows, s.v_head_dim, 1, call.v[row] + head * s.v_head_dim, call.v.stride, {b.v, b.v_stride});
}

ONCEOVER_LEAF void keep_states(const RetainBackwardCall& call, const RetainGradient& b, int64_t sequence,
                               int64_t head) {
  const RetainShape& s = call.shape;
  const int64_t size = s.head_dim * b.forward.v_stride;
  for (int64_t j = 0; j < size; ++j) b.states[j] = 0;
  for (int64_t c = 0; c < retain_chunks(s); ++c) {
    const int64_t n = c * retain_chunk, rows = s.rows - n < retain_chunk ? s.rows - n : retain_chunk;
    float* next = b.states + (c + 1) * size;
    std::memcpy(next, b.states + c * size, sizeof(float) * static_cast<size_t>(size));
    load_chunk(call, b.forward, sequence * s.rows + n, head, rows);
    advance_state(s, rows, b.forward.sums, b.forward.k, b.forward.v, b.forward.faded, next);
  }
}

// W into scores, G into g.
ONCEOVER_LEAF void retain_scores(const RetainBackwardCall& call, const RetainGradient& b, int64_t row,
                                 int64_t head, int64_t rows) {
  const RetainShape& s = call.shape;
  const RetainScratch& f = b.forward;
  load_chunk(call, f, row, head, rows);
  copy_block(rows, s.head_dim, s.scale, call.q[row] + head * s.head_dim, call.q.stride, {f.q, f.k_stride});
  copy_block(rows, s.v_head_dim, 1, call.dy[row] + head * s.v_head_dim, call.dy.stride, {b.dy, f.v_stride});
  transpose_block(rows, s.head_dim, f.k, f.k_stride, {f.k_across, retain_chunk});
  transpose_block(rows, s.v_head_dim, f.v, f.v_stride, {b.v_across, retain_chunk});
  multiply(rows, padded(rows), s.head_dim, {f.q, f.k_stride, 1}, {f.k_across, retain_chunk},
           {f.scores, retain_chunk}, false);
  multiply(rows, padded(rows), s.v_head_dim, {b.dy, f.v_stride, 1}, {b.v_across, retain_chunk},
           {b.g, retain_chunk}, false);
  decay_scores(rows, f.sums, f.scores);
  decay_scores(rows, f.sums, b.g);
}

// dq = G K + e^b dY Sᵀ
ONCEOVER_LEAF void retain_dq(const RetainShape& s, const RetainGradient& b, const float* state,
                             int64_t rows) {
  const RetainScratch& f = b.forward;
  multiply(rows, f.k_stride, rows, {b.g, retain_chunk, 1}, {f.k, f.k_stride}, {b.dq, f.k_stride}, false);
  transpose_block(s.head_dim, s.v_head_dim, state, f.v_stride, {b.state_across, f.k_stride});
  for (int64_t n = 0; n < rows; ++n) {
    scale_block(f.v_stride, exp8(splat(f.sums[n]))[0], b.dy + n * f.v_stride, b.faded_v + n * f.v_stride);
  }
  multiply(rows, f.k_stride, s.v_head_dim, {b.faded_v, f.v_stride, 1}, {b.state_across, f.k_stride},
           {b.dq, f.k_stride}, true);
}

// dk and dv (into f.y) from G, W and the gradient of the state after the chunk.
ONCEOVER_LEAF void retain_dk_dv(const RetainShape& s, const RetainGradient& b, int64_t rows) {
  const RetainScratch& f = b.forward;
  transpose_block(s.head_dim, s.v_head_dim, b.dstate, f.v_stride, {b.state_across, f.k_stride});
  for (int64_t n = 0; n < rows; ++n) {
    const float fade = exp8(splat(f.sums[rows - 1] - f.sums[n]))[0];
    scale_block(f.v_stride, fade, f.v + n * f.v_stride, b.faded_v + n * f.v_stride);
    scale_block(f.k_stride, fade, f.k + n * f.k_stride, f.faded + n * f.k_stride);
  }
  multiply(rows, f.k_stride, rows, {b.g, 1, retain_chunk}, {f.q, f.k_stride}, {b.dk, f.k_stride}, false);
  multiply(rows, f.k_stride, s.v_head_dim, {b.faded_v, f.v_stride, 1}, {b.state_across, f.k_stride},
           {b.dk, f.k_stride}, true);
  multiply(rows, f.v_stride, rows, {f.scores, 1, retain_chunk}, {b.dy, f.v_stride}, {f.y, f.v_stride}, false);
  multiply(rows, f.v_stride, s.head_dim, {f.faded, f.k_stride, 1}, {b.dstate, f.v_stride}, {f.y, f.v_stride},
           true);
}

// log_decay[n] = the gradient of log γ_n: the sum of db over the rows from n on. next_state is S'.
ONCEOVER_LEAF void retain_log_decay(const RetainShape& s, const RetainGradient& b, const float* next_state,
                                    int64_t rows) {
  const RetainScratch& f = b.forward;
  double total = dot(s.head_dim * f.v_stride, b.dstate, next_state);
  for (int64_t n = rows - 1; n >= 0; --n) {
    const int64_t at = n * f.k_stride;
    total += static_cast<double>(dot(s.head_dim, f.q + at, b.dq + at)) - dot(s.head_dim, f.k + at, b.dk + at);
    b.log_decay[n] = static_cast<float>(total);
  }
}

ONCEOVER_LEAF void retain_dstate(const RetainShape& s, const RetainGradient& b, int64_t rows) {
  const RetainScratch& f = b.forward;
  for (int64_t n = 0; n < rows; ++n) {
    scale_block(f.k_stride, exp8(splat(f.sums[n]))[0], f.q + n * f.k_stride, f.faded + n * f.k_stride);
  }
  scale_block(s.head_dim * f.v_stride, exp8(splat(f.sums[rows - 1]))[0], b.dstate, b.dstate);
  multiply(s.head_dim, f.v_stride, rows, {f.faded, 1, f.k_stride}, {b.dy, f.v_stride}, {b.dstate, f.v_stride},
           true);
}

ONCEOVER_LEAF void retain_backward(const RetainBackwardCall& call, int64_t sequence, int64_t head,
                                   float* scratch) {
  const RetainShape& s = call.shape;
  const RetainGradient b = retain_gradient(s, scratch);
  const RetainScratch& f = b.forward;
  const int64_t size = s.head_dim * f.v_stride;
  keep_states(call, b, sequence, head);
  for (int64_t j = 0; j < size; ++j) b.dstate[j] = 0;
  for (int64_t c = retain_chunks(s) - 1; c >= 0; --c) {
    const int64_t n = c * retain_chunk, rows = s.rows - n < retain_chunk ? s.rows - n : retain_chunk;
    const int64_t row = sequence * s.rows + n;
    retain_scores(call, b, row, head, rows);
    retain_dq(s, b, b.states + c * size, rows);
    retain_dk_dv(s, b, rows);
    retain_log_decay(s, b, b.states + (c + 1) * size, rows);
    retain_dstate(s, b, rows);
    add_block(rows, s.head_dim, s.scale, {b.dq, f.k_stride}, call.dq[row] + head * s.head_dim,
              call.dq.stride);
    add_block(rows, s.head_dim, 1, {b.dk, f.k_stride}, call.dk[row] + head * s.head_dim, call.dk.stride);
    add_block(rows, s.v_head_dim, 1, {f.y, f.v_stride}, call.dv[row] + head * s.v_head_dim, call.dv.stride);
    for (int64_t i = 0; i < rows; ++i) {
      const float x = call.decay[row + i][head];
      call.ddecay[row + i][head] += b.log_decay[i] / s.temperature / (1 + std::exp(x));
    }
  }
}

}  // namespace onceover::kernels::ONCEOVER_ISA
