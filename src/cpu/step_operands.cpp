#include "cpu/step_operands.h"

#include "cpu/kernels/attention.h"
#include "cpu/kernels/cross_entropy.h"
#include "cpu/kernels/embedding.h"
#include "cpu/kernels/linear.h"
#include "cpu/kernels/norm.h"
#include "cpu/kernels/retention.h"

namespace onceover::cpu {
namespace {

using kernels::ElementShape;

ElementShape elements(const StepOperands& at) { return {at.rows(), at.width()}; }

kernels::LinearShape linear_shape(const StepOperands& at) { return {at.rows(), at.in_width(0), at.width()}; }

kernels::EmbedShape embed_shape(const StepOperands& at, const Embed& op) {
  return {at.rows(), at.width(), op.scale};
}

kernels::RopeShape rope_shape(const StepOperands& at, const Rope& op) { return {at.rows(), op.heads}; }

kernels::AttendShape attend_shape(const StepOperands& at, const Attend& op) {
  kernels::AttendShape shape{};
  shape.sequences = at.run.shape.sequences;
  shape.q_rows = shape.k_rows = at.run.shape.length;
  shape.heads = op.heads;
  shape.kv_heads = op.kv_heads;
  shape.head_dim = at.in_width(0) / op.heads;
  shape.v_head_dim = at.in_width(2) / op.kv_heads;
  shape.window = op.mask.window;
  shape.scale = op.scale;
  return shape;
}

kernels::RetainShape retain_shape(const StepOperands& at, const Retain& op) {
  return {.sequences = at.run.shape.sequences,
          .rows = at.run.shape.length,
          .heads = op.heads,
          .head_dim = at.in_width(0) / op.heads,
          .v_head_dim = at.in_width(2) / op.heads,
          .temperature = op.temperature,
          .scale = op.scale};
}

kernels::CrossEntropyShape loss_shape(const StepOperands& at) {
  return {at.rows(), at.in_width(0), at.width()};
}

void count(LossSum& sum, const kernels::TargetLoss& found) {
  sum.loss += found.loss;
  sum.tokens += found.targets;
}

// The gradient of a sum goes to both terms as it is; one of them may have taken over its storage.
void pass_on(const StepOperands& at) {
  for (int i = 0; i < 2; i++) {
    if (!at.inherits(i)) kernels::accumulate(elements(at), at.grad_out(), at.grad_in(i));
  }
}

}  // namespace

void forward(const StepOperands& at, const Op& op, bool with_gradients) {
  if (forward_rows(op, at.row_work(), at.run.weights)) return;
  std::visit(Overload{
                 [&](const Rope& o) {
                   kernels::rope_forward(rope_shape(at, o), at.rope_table(o), at.in(0), at.out());
                 },
                 [&](const Attend& o) {
                   kernels::attend_forward(attend_shape(at, o), at.in(0), at.in(1), at.in(2), at.out(),
                                           at.side());
                 },
                 [&](const Retain& o) {
                   kernels::retain_forward(retain_shape(at, o), at.in(0), at.in(1), at.in(2), at.in(3),
                                           at.out(), nullptr);
                 },
                 [&](const Logits& o) {
                   if (with_gradients) return;
                   count(at.run.loss, kernels::cross_entropy(loss_shape(at), at.in(0), at.weight(o.weight),
                                                             at.run.batch.targets.data(), nullptr));
                 },
                 [](const auto&) {},
             },
             op);
}

void backward(const StepOperands& at, const Op& op) {
  at.clear_fresh();
  std::visit(
      Overload{
          [&](const Embed& o) {
            kernels::embed_backward(embed_shape(at, o), at.run.batch.inputs.data(), at.grad_out(),
                                    at.weight_gradient(o.table));
          },
          [&](const Norm& o) {
            const bool plain = o.weight == no_weight;
            kernels::norm_backward(norm_shape(o, at.rows(), at.width()), at.in(0),
                                   plain ? nullptr : at.weight_data(o.weight), at.grad_out(), at.grad_in(0),
                                   plain ? nullptr : at.gradient_data(o.weight));
          },
          [&](const Linear& o) {
            kernels::linear_backward_weight(linear_shape(at), at.grad_out(), at.in(0),
                                            at.weight_gradient(o.weight));
            kernels::linear_backward_input(linear_shape(at), at.grad_out(), at.weight(o.weight),
                                           at.grad_in(0));
          },
          [&](const Rope& o) {
            if (at.inherits(0)) {
              kernels::rope_inverse(rope_shape(at, o), at.rope_table(o), at.grad_in(0));
            } else {
              kernels::rope_backward(rope_shape(at, o), at.rope_table(o), at.grad_out(), at.grad_in(0));
            }
          },
          [&](const Attend& o) {
            kernels::attend_backward(attend_shape(at, o), at.in(0), at.in(1), at.in(2), at.out(), at.side(),
                                     at.grad_out(), at.grad_in(0), at.grad_in(1), at.grad_in(2));
          },
          [&](const Retain& o) {
            kernels::retain_backward(retain_shape(at, o), at.in(0), at.in(1), at.in(2), at.in(3),
                                     at.grad_out(), at.grad_in(0), at.grad_in(1), at.grad_in(2),
                                     at.grad_in(3));
          },
          [&](const Swiglu&) {
            kernels::swiglu_backward(elements(at), at.in(0), at.in(1), at.grad_out(), at.grad_in(0),
                                     at.grad_in(1));
          },
          [&](const Experts& o) {
            const kernels::ExpertsGradients g{at.gradient_data(o.router), at.gradient_data(o.gate),
                                              at.gradient_data(o.up), at.gradient_data(o.down)};
            at.run.loss.balance += at.tape().balance_loss;
            kernels::experts_backward(experts_shape(o, at.rows(), at.run.weights),
                                      experts_weights(o, at.run.weights), at.in(0), at.grad_out(), at.tape(),
                                      static_cast<float>(at.run.scale.balance), at.grad_in(0), g);
          },
          [&](const Add&) { pass_on(at); },
          [&](const Mix& o) {
            kernels::mix_backward(elements(at), o.scale, at.weight_data(o.weight), at.in(0), at.in(1),
                                  at.grad_out(), at.grad_in(0), at.grad_in(1), at.gradient_data(o.weight));
          },
          [&](const Logits& o) {
            count(at.run.loss, kernels::cross_entropy_gradient(
                                   loss_shape(at), at.in(0), at.weight(o.weight), at.run.batch.targets.data(),
                                   static_cast<float>(at.run.scale.token), at.grad_in(0),
                                   at.weight_gradient(o.weight), nullptr));
          },
      },
      op);
}

int64_t side_floats(const Op& op, int64_t rows) {
  const auto* attend = std::get_if<Attend>(&op);
  return attend ? rows * attend->heads : 0;
}

}  // namespace onceover::cpu
