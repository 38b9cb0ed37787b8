#include "torch/ops.h"

namespace onceover::torch_executor {

Tensor norm(const Norm& op, const Tensor& x, const Tensor& weight) {
  const Tensor parts = x.to(at::kFloat).unflatten(-1, {op.groups, -1});
  const Tensor mean_square = parts.square().mean(-1, true);
  // NaN when a square overflows: 1 / sqrt(inf) would hide that behind rows of 0.
  const Tensor overflow = (mean_square - mean_square).detach();
  const Tensor y = (parts * (at::rsqrt(mean_square + op.eps) + overflow)).flatten(-2);
  return weight.defined() ? y * weight : y;
}

// Angles in double: at row 100000 a float angle would be off by hundredths.
RopeTable rope_table(double theta, int64_t head_dim, int64_t first, int64_t rows, at::Device device) {
  const auto options = at::TensorOptions(at::kDouble);
  const Tensor frequency =
      at::pow(theta, at::arange(0, head_dim / 2, options) * (-2.0 / static_cast<double>(head_dim)));
  const Tensor angle = at::arange(first, first + rows, options).view({-1, 1, 1}) * frequency;
  return {angle.cos().to(device, at::kFloat), angle.sin().to(device, at::kFloat)};
}

Tensor rope(const Rope& op, const Tensor& x, const RopeTable& table) {
  const auto halves = x.to(at::kFloat).unflatten(-1, {op.heads, -1}).chunk(2, -1);
  const Tensor &a = halves[0], &b = halves[1];
  const Tensor turned = at::cat({a * table.cosine - b * table.sine, a * table.sine + b * table.cosine}, -1);
  return turned.flatten(-2).to(x.scalar_type());
}

Tensor swiglu(const Tensor& gate, const Tensor& up) { return at::silu(gate) * up; }

Tensor mix(const Mix& op, const Tensor& weight, const Tensor& a, const Tensor& b) {
  return op.scale * (weight[0] * a + weight[1] * b);
}

Tensor token_losses(const Tensor& logits, const Tensor& targets) {
  constexpr int64_t not_scored = -1;
  return at::cross_entropy_loss(logits.to(at::kFloat).flatten(0, 1), targets.flatten(), {},
                                at::Reduction::Sum, not_scored);
}

Tensor count_correct(const Tensor& logits, const Tensor& targets) {
  return (logits.argmax(-1) == targets).sum();  // a target of -1 equals no place
}

}  // namespace onceover::torch_executor
