#include "torch/ops.h"

namespace onceover::torch_executor {

Tensor norm(const Norm& op, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  Tensor parts = x.to(at::kFloat).unflatten(-1, {op.groups, -1});
  if (op.centred) parts = parts - parts.mean(-1, true);
  const Tensor mean_square = parts.square().mean(-1, true);
  // NaN when a square overflows: 1 / sqrt(inf) would hide that behind rows of 0.
  const Tensor overflow = (mean_square - mean_square).detach();
  Tensor y = parts * (at::rsqrt(mean_square + op.eps) + overflow);
  if (weight.defined() && op.shared) y = y * weight;
  y = y.flatten(-2);
  if (weight.defined() && !op.shared) y = y * weight;
  return bias.defined() ? y + bias : y;
}

// Angles in double: at row 100000 a float angle would be off by hundredths.
RopeTable rope_table(const RopeAngles& angles, int64_t head_dim, int64_t first, int64_t rows,
                     at::Device device) {
  const auto options = at::TensorOptions(at::kDouble);
  const Tensor frequency = at::tensor(rope_frequencies(angles, head_dim), options);
  const Tensor angle = at::arange(first, first + rows, options).view({-1, 1, 1}) * frequency;
  const double magnitude = rope_magnitude(angles);
  return {(angle.cos() * magnitude).to(device, at::kFloat), (angle.sin() * magnitude).to(device, at::kFloat)};
}

Tensor rope(const Rope& op, const Tensor& x, const RopeTable& table) {
  const int64_t half = table.cosine.size(-1);
  const Tensor heads = x.to(at::kFloat).unflatten(-1, {op.heads, -1});
  const Tensor a = heads.narrow(-1, 0, half), b = heads.narrow(-1, half, half);
  const Tensor still = heads.narrow(-1, 2 * half, heads.size(-1) - 2 * half);
  const Tensor turned =
      at::cat({a * table.cosine - b * table.sine, a * table.sine + b * table.cosine, still}, -1);
  return turned.flatten(-2).to(x.scalar_type());
}

Tensor activate(const Activate& op, const Tensor& x) {
  return at::gelu(x, op.function == Activation::GeluTanh ? "tanh" : "none");
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
