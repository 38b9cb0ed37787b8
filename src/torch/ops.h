// The ops of a plan in libtorch's own, differentiable by its autograd. Equations: plan/op.h.
//
// Values are [sequences, rows, width]. Sums that a half precision would spoil (norms, rotary, softmax,
// retention, routing) are made in f32 whatever comes in; f32 is never left unless `bf16` asks for it.
#pragma once
#include "plan/op.h"
#include "torch/compat.h"

namespace onceover::torch_executor {

using at::Tensor;

Tensor norm(const Norm& op, const Tensor& x, const Tensor& weight, const Tensor& bias);  // undefined for none

// Cosine and sine of row * frequency, for `rows` rows from `first`: each [rows, 1, pairs].
struct RopeTable {
  Tensor cosine, sine;
};
RopeTable rope_table(const RopeAngles& angles, int64_t head_dim, int64_t first, int64_t rows,
                     at::Device device);
Tensor rope(const Rope& op, const Tensor& x, const RopeTable& table);

// Every query row against the rows of its own sequence. With a window, blocks of `window` queries see their
// own and the previous block of keys, so time and memory grow with rows * window.
Tensor attend(const Attend& op, const Tensor& q, const Tensor& k, const Tensor& v);

// The queries are the last rows of a history: k and v [sequences, keys, …], keys >= rows of q.
Tensor attend_history(const Attend& op, const Tensor& q, const Tensor& k, const Tensor& v);

// The recurrence in chunks. state [sequences, heads, head_dim, v_head_dim] in f32 comes in and goes out moved
// on.
Tensor retain(const Retain& op, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& decay,
              Tensor& state);

Tensor activate(const Activate& op, const Tensor& x);
Tensor swiglu(const Tensor& gate, const Tensor& up);
Tensor mix(const Mix& op, const Tensor& weight, const Tensor& a, const Tensor& b);

struct ExpertWeights {
  Tensor router, gate, up, down;
};
struct ExpertsResult {
  Tensor y, balance;  // balance: the loss with its coefficient, a scalar
};
ExpertsResult experts(const Experts& op, const Tensor& x, const ExpertWeights& weights);

// Cross-entropy summed over targets >= 0. logits [sequences, rows, vocabulary].
Tensor token_losses(const Tensor& logits, const Tensor& targets);

// How many targets >= 0 have the largest logit.
Tensor count_correct(const Tensor& logits, const Tensor& targets);

}  // namespace onceover::torch_executor
