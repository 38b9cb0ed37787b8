#include <algorithm>

#include "torch/ops.h"

namespace onceover::torch_executor {
namespace {

// [sequences, rows, heads * dim] to [sequences, heads, rows, dim].
Tensor by_head(const Tensor& x, int64_t heads) { return x.unflatten(-1, {heads, -1}).transpose(1, 2); }

Tensor by_row(const Tensor& x) { return x.transpose(1, 2).flatten(2); }

// Key heads repeated until there is one for each query head.
Tensor by_query_head(const Attend& op, const Tensor& x) {
  return by_head(x, op.kv_heads).repeat_interleave(op.heads / op.kv_heads, 1);
}

// [rows, keys]: query i, the row `first` + i of the keys, sees key j.
Tensor visible(int64_t rows, int64_t keys, int64_t first, int64_t window, const Tensor& like) {
  const auto options = like.options().dtype(at::kLong);
  const Tensor row = at::arange(first, first + rows, options).unsqueeze(1), key = at::arange(keys, options);
  const Tensor past = key <= row;
  return window == 0 ? past : past & (key > row - window);
}

// [sequences, heads, blocks * window, dim] to [sequences * heads, blocks, window, dim].
Tensor in_blocks(const Tensor& x, int64_t window) { return x.flatten(0, 1).unflatten(1, {-1, window}); }

// Each block behind the one before it; the first has zeros there. [sequences * heads, blocks, 2 window, dim].
Tensor with_previous(const Tensor& x, int64_t window) {
  const Tensor blocks = in_blocks(x, window);
  const Tensor before =
      at::cat({at::zeros_like(blocks.narrow(1, 0, 1)), blocks.narrow(1, 0, blocks.size(1) - 1)}, 1);
  return at::cat({before, blocks}, 2);
}

// Rows are filled up to whole blocks; the filling lies after every real row, where none of them looks.
Tensor attend_in_blocks(const Attend& op, Tensor q, Tensor k, Tensor v) {
  const int64_t window = op.mask.window, rows = q.size(2), filling = (window - rows % window) % window;
  for (Tensor* x : {&q, &k, &v}) *x = at::constant_pad_nd(*x, {0, 0, 0, filling});
  const int64_t blocks = q.size(2) / window;
  Tensor mask = visible(window, 2 * window, window, window, q).expand({blocks, -1, -1}).clone();
  mask[0].narrow(1, 0, window).fill_(false);
  const Tensor y =
      attention(in_blocks(q, window), with_previous(k, window), with_previous(v, window), mask, op.scale);
  return y.flatten(1, 2).unflatten(0, {-1, op.heads}).narrow(2, 0, rows);
}

}  // namespace

Tensor attend(const Attend& op, const Tensor& q, const Tensor& k, const Tensor& v) {
  const Tensor queries = by_head(q, op.heads), keys = by_query_head(op, k), values = by_query_head(op, v);
  const bool windowed = op.mask.window > 0 && op.mask.window < q.size(1);
  if (windowed) return by_row(attend_in_blocks(op, queries, keys, values));
  return by_row(attention(queries, keys, values, {}, op.scale));
}

Tensor attend_history(const Attend& op, const Tensor& q, const Tensor& k, const Tensor& v) {
  const int64_t rows = q.size(1), keys = k.size(1);
  const Tensor mask = visible(rows, keys, keys - rows, op.mask.window, q);
  return by_row(attention(by_head(q, op.heads), by_query_head(op, k), by_query_head(op, v), mask, op.scale));
}

}  // namespace onceover::torch_executor
