#include "torch/row_ops.h"

namespace onceover::torch_executor {
namespace {

Tensor product(const Tensor& x, const Tensor& weight) {
  return at::linear(x.to(weight.scalar_type()), weight);
}

}  // namespace

RowResult run_row_op(const Op& op, const RowInputs& given, WeightReader& weights) {
  const auto& in = given.in;
  return std::visit(
      Overload{
          [&](const Embed& o) {
            const Tensor rows = at::embedding(weights.f32(o.table), given.tokens);
            return RowResult{o.scale == 1 ? rows : rows * o.scale, {}};
          },
          [&](const Norm& o) {
            return RowResult{norm(o, in[0], o.weight == no_weight ? Tensor() : weights.f32(o.weight)), {}};
          },
          [&](const Linear& o) {
            return RowResult{product(in[0], weights.factor(o.weight)), {}};
          },
          [&](const Swiglu&) {
            return RowResult{swiglu(in[0], in[1]), {}};
          },
          [&](const Experts& o) {
            const auto found = experts(o, in[0],
                                       {weights.f32(o.router), weights.factor(o.gate), weights.factor(o.up),
                                        weights.factor(o.down)});
            return RowResult{found.y, found.balance};
          },
          [&](const Add&) {
            return RowResult{in[0] + in[1], {}};
          },
          [&](const Mix& o) {
            return RowResult{mix(o, weights.f32(o.weight), in[0], in[1]), {}};
          },
          [](const auto&) { return RowResult{}; },
      },
      op);
}

Tensor head(const Logits& op, const Tensor& x, WeightReader& weights) {
  return product(x, weights.factor(op.weight)).to(at::kFloat);
}

}  // namespace onceover::torch_executor
