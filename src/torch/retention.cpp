#include <algorithm>

#include "torch/ops.h"

namespace onceover::torch_executor {
namespace {

constexpr int64_t chunk_rows = 64;

Tensor by_head(const Tensor& x, int64_t heads) {
  return x.to(at::kFloat).unflatten(-1, {heads, -1}).transpose(1, 2);
}

// q, k, v [sequences, heads, rows, dim] and log γ [sequences, heads, rows] of one chunk. All powers of γ that
// occur have exponents >= 0: nothing overflows.
Tensor retain_chunk(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& log_decay,
                    Tensor& state) {
  const Tensor since_start = log_decay.cumsum(-1);
  const Tensor between = since_start.unsqueeze(-1) - since_start.unsqueeze(-2);
  const Tensor later = at::ones({q.size(2), q.size(2)}, q.options().dtype(at::kBool)).triu(1);
  const Tensor decay = between.masked_fill(later, -INFINITY).exp();
  const Tensor inside = at::matmul(at::matmul(q, k.transpose(-2, -1)) * decay, v);
  const Tensor y = inside + at::matmul(q * since_start.exp().unsqueeze(-1), state);
  const Tensor whole = since_start.narrow(-1, since_start.size(-1) - 1, 1);
  const Tensor kept = k * (whole - since_start).exp().unsqueeze(-1);
  state = state * whole.exp().unsqueeze(-1) + at::matmul(kept.transpose(-2, -1), v);
  return y;
}

}  // namespace

Tensor retain(const Retain& op, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& decay,
              Tensor& state) {
  const Tensor queries = by_head(q, op.heads), keys = by_head(k, op.heads), values = by_head(v, op.heads);
  const Tensor log_decay = at::log_sigmoid(decay.to(at::kFloat)).transpose(1, 2) / op.temperature;
  std::vector<Tensor> chunks;
  for (int64_t first = 0; first < q.size(1); first += chunk_rows) {
    const int64_t rows = std::min(chunk_rows, q.size(1) - first);
    const auto part = [&](const Tensor& x) { return x.narrow(2, first, rows); };
    chunks.push_back(retain_chunk(part(queries), part(keys), part(values), part(log_decay), state));
  }
  return (at::cat(chunks, 2) * op.scale).transpose(1, 2).flatten(2);
}

}  // namespace onceover::torch_executor
