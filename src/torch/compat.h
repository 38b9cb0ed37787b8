// What this module takes from libtorch, and the differences between 1.13 and 2.x.
//
// The ATen headers alone, not torch/torch.h: that halves the time to compile. This is the module's
// precompiled header. The branches for 2.x follow its documentation; the tests run with 1.13.
#pragma once
#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/cuda.h>
#include <torch/version.h>

#include <cmath>
#include <optional>

namespace onceover::torch_executor {

// softmax(scale q kᵀ + mask) v. q [..., heads, rows, head_dim], k and v [..., heads, keys, …]; mask [rows,
// keys] or with leading axes to broadcast, true = seen; without one, query i sees keys 0 .. i. 2.x has fused
// kernels.
inline at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const std::optional<at::Tensor>& mask, double scale) {
#if TORCH_VERSION_MAJOR >= 2
  // 2.0 has no argument for the scale and takes 1/sqrt(head_dim).
  const double factor = scale * std::sqrt(static_cast<double>(q.size(-1)));
  const at::Tensor scaled = std::abs(factor - 1) < 1e-6 ? q : q * factor;
  if (!mask) return at::scaled_dot_product_attention(scaled, k, v, {}, 0.0, true);
  return at::scaled_dot_product_attention(scaled, k, v, *mask, 0.0, false);
#else
  const at::Tensor seen =
      mask ? *mask : at::ones({q.size(-2), k.size(-2)}, q.options().dtype(at::kBool)).tril();
  const at::Tensor scores = at::matmul(q, k.transpose(-2, -1)).to(at::kFloat) * scale;
  const at::Tensor p = at::softmax(scores.masked_fill_(seen.logical_not(), -INFINITY), -1);
  return at::matmul(p.to(v.scalar_type()), v);
#endif
}

}  // namespace onceover::torch_executor
