// Softmax attention with grouped heads, causal or windowed: tiles with an online softmax (FlashAttention,
// arXiv 2205.14135).
//
// q [sequences * q_rows, heads * head_dim], k [sequences * k_rows, kv_heads * head_dim], v and y alike with
// v_head_dim. y = softmax(scale q kᵀ + mask) v. A row that sees no key gives zeros. Only log_sum_exp
// [sequences * q_rows, heads] is kept for the backward pass (-infinity where no key is seen); scores are
// computed again there. Time is O(rows * window) with a window and O(rows²) without; scratch is O(1) a thread
// forward, O(q_rows) backward. Threads: forward by block of queries, backward by key head of a sequence;
// results do not depend on the thread count.
#pragma once
#include "cpu/kernels/attention_shape.h"
#include "cpu/kernels/view.h"

namespace onceover::kernels {

// Overwrites y and log_sum_exp. log_sum_exp may be null.
void attend_forward(const AttendShape&, Input q, Input k, Input v, Output y, float* log_sum_exp);

// Adds to dq, dk and dv, any of which may be absent (null). y and log_sum_exp are those of attend_forward.
void attend_backward(const AttendShape&, Input q, Input k, Input v, Input y, const float* log_sum_exp,
                     Input dy, Output dq, Output dk, Output dv);

}  // namespace onceover::kernels
