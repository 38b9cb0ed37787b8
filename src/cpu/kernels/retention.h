// Gated retention (YOCO, arXiv 2405.05254 eq. 5-7), chunkwise, and its single recurrent step.
//
// q, k [sequences * rows, heads * head_dim], v, y [.., heads * v_head_dim], decay [.., heads]. Per head
// γ_n = sigmoid(decay_n)^(1/temperature), S_n = γ_n S_{n-1} + k_nᵀ v_n, y_n = scale q_n S_n.
// state [sequences, heads, head_dim, v_head_dim] is read and replaced, so that a sequence may come in pieces;
// null starts from zero and keeps nothing. Threads: by head of a sequence; results do not depend on the
// thread count.
#pragma once
#include "cpu/kernels/view.h"

namespace onceover::kernels {

struct RetainShape {
  int64_t sequences = 1, rows;  // rows of each sequence
  int64_t heads, head_dim, v_head_dim;
  float temperature = 16;
  float scale = 1;
};

// Overwrites y.
void retain_forward(const RetainShape&, Input q, Input k, Input v, Input decay, Output y, float* state);

// One row a sequence: the recurrence itself, without the chunk's set-up. shape.rows must be 1.
void retain_step(const RetainShape&, Input q, Input k, Input v, Input decay, Output y, float* state);

// Adds to dq, dk, dv and ddecay. The sequences must have started from zero. Scratch: one state per 64 rows a
// thread.
void retain_backward(const RetainShape&, Input q, Input k, Input v, Input decay, Input dy, Output dq,
                     Output dk, Output dv, Output ddecay);

}  // namespace onceover::kernels
