#include "torch/row_ops.h"

namespace onceover::torch_executor {
namespace {

Tensor product(const Tensor& x, const Tensor& weight) {
  return at::linear(x.to(weight.scalar_type()), weight);
}

// Of every token, or the rows `first` and on for every sequence.
Tensor looked_up(const Embed& op, const RowInputs& given, const Tensor& table) {
  if (op.by == Lookup::Token) return at::embedding(table, given.tokens);
  return table.narrow(0, given.first, given.tokens.size(1))
      .unsqueeze(0)
      .expand({given.tokens.size(0), -1, -1});
}

}  // namespace

RowResult run_row_op(const Op& op, const RowInputs& given, WeightReader& weights) {
  const auto& in = given.in;
  const auto optional = [&](WeightId w) { return w == no_weight ? Tensor() : weights.f32(w); };
  return std::visit(Overload{
                        [&](const Embed& o) {
                          const Tensor rows = looked_up(o, given, weights.f32(o.table));
                          return RowResult{o.scale == 1 ? rows : rows * o.scale, {}};
                        },
                        [&](const Norm& o) {
                          return RowResult{norm(o, in[0], optional(o.weight), optional(o.bias)), {}};
                        },
                        [&](const Linear& o) {
                          const Tensor y = product(in[0], weights.factor(o.weight));
                          return RowResult{o.bias == no_weight ? y : y + weights.factor(o.bias), {}};
                        },
                        [&](const Activate& o) {
                          return RowResult{activate(o, in[0]), {}};
                        },
                        [&](const Swiglu&) {
                          return RowResult{swiglu(in[0], in[1]), {}};
                        },
                        [&](const Experts& o) {
                          const auto found = experts(o, in[0],
                                                     {weights.f32(o.router), weights.factor(o.gate),
                                                      weights.factor(o.up), weights.factor(o.down)});
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
