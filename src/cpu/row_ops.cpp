#include "cpu/row_ops.h"

#include "cpu/kernels/elementwise.h"
#include "cpu/kernels/embedding.h"
#include "cpu/kernels/linear.h"
#include "cpu/kernels/packed_linear.h"

namespace onceover::cpu {

namespace {

void embed(const WeightTable& weights, const Embed& op, const RowWork& w) {
  std::vector<int32_t> positions;
  const int32_t* index = w.tokens;
  if (op.by == Lookup::Row) {
    positions.assign(w.positions, w.positions + w.rows);
    index = positions.data();
  }
  const kernels::PackedMatrix* packed = weights.find_packed(op.table);
  if (packed == nullptr) {
    kernels::embed_forward({w.rows, w.width, op.scale}, index, weights.matrix(op.table), w.out);
    return;
  }
  for (int64_t row = 0; row < w.rows; ++row) {
    kernels::unpack_row(*packed, index[row], w.out[row]);
    for (int64_t i = 0; i < w.width; ++i) w.out[row][i] *= op.scale;
  }
}

void run_experts(const WeightTable& weights, const Experts& op, const RowWork& w) {
  const kernels::ExpertsShape shape = experts_shape(op, w.rows, weights);
  if (weights.find_packed(op.gate) == nullptr) {
    kernels::experts_forward(shape, experts_weights(op, weights), w.in[0], w.out, *w.tape);
    return;
  }
  const auto product = [&](WeightId stack) {
    return
        [&matrix = weights.packed[stack]](int64_t expert, int64_t rows, kernels::Input x, kernels::Output y) {
          kernels::PackedMatrix of_expert = matrix;
          of_expert.data += expert * matrix.bytes();
          kernels::packed_linear(rows, x, of_expert, y);
        };
  };
  kernels::experts_forward(shape, weights.data[op.router],
                           {product(op.gate), product(op.up), product(op.down)}, w.in[0], w.out, *w.tape);
}

}  // namespace

void multiply(const WeightTable& weights, WeightId id, int64_t rows, kernels::Input x, kernels::Output y) {
  if (const kernels::PackedMatrix* packed = weights.find_packed(id)) {
    kernels::packed_linear(rows, x, *packed, y);
    return;
  }
  const auto& shape = (*weights.specs)[id].shape;  // [outputs, inputs]
  kernels::linear_forward({rows, shape[1], shape[0]}, x, weights.matrix(id), y);
}

kernels::NormShape norm_shape(const Norm& op, int64_t rows, int64_t width) {
  return {rows, width, op.groups, op.eps, op.centred, op.shared};
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
  return std::visit(Overload{
                        [&](const Embed& o) {
                          embed(weights, o, w);
                          return true;
                        },
                        [&](const Norm& o) {
                          const float* weight = o.weight == no_weight ? nullptr : weights.data[o.weight];
                          kernels::norm_forward(norm_shape(o, w.rows, w.width), w.in[0], weight, w.out);
                          if (o.bias != no_weight) kernels::add_bias(elements, weights.data[o.bias], w.out);
                          return true;
                        },
                        [&](const Linear& o) {
                          multiply(weights, o.weight, w.rows, w.in[0], w.out);
                          if (o.bias != no_weight) kernels::add_bias(elements, weights.data[o.bias], w.out);
                          return true;
                        },
                        [&](const Activate& o) {
                          kernels::gelu_forward(elements, o.function == Activation::GeluTanh, w.in[0], w.out);
                          return true;
                        },
                        [&](const Swiglu&) {
                          kernels::swiglu_forward(elements, w.in[0], w.in[1], w.out);
                          return true;
                        },
                        [&](const Experts& o) {
                          run_experts(weights, o, w);
                          return true;
                        },
                        [&](const Add&) {
                          kernels::add_forward(elements, w.in[0], w.in[1], w.out);
                          return true;
                        },
                        [&](const Mix& o) {
                          kernels::mix_forward(elements, o.scale, weights.data[o.weight], w.in[0], w.in[1],
                                               w.out);
                          return true;
                        },
                        [](const auto&) { return false; },
                    },
                    op);
}

}  // namespace onceover::cpu
