#include "cpu/row_ops.h"

#include "cpu/kernels/elementwise.h"
#include "cpu/kernels/embedding.h"
#include "cpu/kernels/linear.h"

namespace onceover::cpu {

kernels::NormShape norm_shape(const Norm& op, int64_t rows, int64_t width) {
  return {rows, width, op.groups, op.eps};
}

kernels::ExpertsShape experts_shape(const Experts& op, int64_t rows, const WeightTable& weights) {
  const auto& stack = (*weights.specs)[op.gate].shape;  // [experts, ffn, width]
  return {.rows = rows,
          .width = stack[2],
          .experts = stack[0],
          .active = op.active,
          .ffn = stack[1],
          .normalise = op.normalise,
          .balance = op.balance,
          .real = nullptr};
}

kernels::ExpertsWeights experts_weights(const Experts& op, const WeightTable& weights) {
  return {weights.data[op.router], weights.data[op.gate], weights.data[op.up], weights.data[op.down]};
}

bool forward_rows(const Op& op, const RowWork& w, const WeightTable& weights) {
  const kernels::ElementShape elements{w.rows, w.width};
  return std::visit(
      Overload{
          [&](const Embed& o) {
            kernels::embed_forward({w.rows, w.width, o.scale}, w.tokens, weights.matrix(o.table), w.out);
            return true;
          },
          [&](const Norm& o) {
            const float* weight = o.weight == no_weight ? nullptr : weights.data[o.weight];
            kernels::norm_forward(norm_shape(o, w.rows, w.width), w.in[0], weight, w.out);
            return true;
          },
          [&](const Linear& o) {
            kernels::linear_forward({w.rows, w.in_width[0], w.width}, w.in[0], weights.matrix(o.weight),
                                    w.out);
            return true;
          },
          [&](const Swiglu&) {
            kernels::swiglu_forward(elements, w.in[0], w.in[1], w.out);
            return true;
          },
          [&](const Experts& o) {
            kernels::experts_forward(experts_shape(o, w.rows, weights), experts_weights(o, weights), w.in[0],
                                     w.out, *w.tape);
            return true;
          },
          [&](const Add&) {
            kernels::add_forward(elements, w.in[0], w.in[1], w.out);
            return true;
          },
          [&](const Mix& o) {
            kernels::mix_forward(elements, o.scale, weights.data[o.weight], w.in[0], w.in[1], w.out);
            return true;
          },
          [](const auto&) { return false; },
      },
      op);
}

}  // namespace onceover::cpu
