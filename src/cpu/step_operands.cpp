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

void backward_of(const StepOperands& at, const Embed& op) {
  const std::vector<int32_t> positions(at.run.positions.begin(), at.run.positions.end());
  const int32_t* index = op.by == Lookup::Row ? positions.data() : at.run.batch.inputs.data();
  kernels::embed_backward(embed_shape(at, op), index, at.grad_out(), at.weight_gradient(op.table));
}

void backward_of(const StepOperands& at, const Norm& op) {
  const bool plain = op.weight == no_weight;
  kernels::norm_backward(norm_shape(op, at.rows(), at.width()), at.in(0),
                         plain ? nullptr : at.weight_data(op.weight), at.grad_out(), at.grad_in(0),
                         plain ? nullptr : at.gradient_data(op.weight));
  if (op.bias != no_weight) kernels::bias_backward(elements(at), at.grad_out(), at.gradient_data(op.bias));
}

void backward_of(const StepOperands& at, const Linear& op) {
  kernels::linear_backward_weight(linear_shape(at), at.grad_out(), at.in(0), at.weight_gradient(op.weight));
  kernels::linear_backward_input(linear_shape(at), at.grad_out(), at.weight(op.weight), at.grad_in(0));
  if (op.bias != no_weight) kernels::bias_backward(elements(at), at.grad_out(), at.gradient_data(op.bias));
}

void backward_of(const StepOperands& at, const Rope& op) {
  if (at.inherits(0)) {
    kernels::rope_inverse(rope_shape(at, op), at.rope_table(op), at.grad_in(0));
  } else {
    kernels::rope_backward(rope_shape(at, op), at.rope_table(op), at.grad_out(), at.grad_in(0));
  }
}

void backward_of(const StepOperands& at, const Attend& op) {
  kernels::attend_backward(attend_shape(at, op), at.in(0), at.in(1), at.in(2), at.out(), at.side(),
                           at.grad_out(), at.grad_in(0), at.grad_in(1), at.grad_in(2));
}

void backward_of(const StepOperands& at, const Retain& op) {
  kernels::retain_backward(retain_shape(at, op), at.in(0), at.in(1), at.in(2), at.in(3), at.grad_out(),
                           at.grad_in(0), at.grad_in(1), at.grad_in(2), at.grad_in(3));
}

void backward_of(const StepOperands& at, const Swiglu&) {
  kernels::swiglu_backward(elements(at), at.in(0), at.in(1), at.grad_out(), at.grad_in(0), at.grad_in(1));
}

void backward_of(const StepOperands& at, const Activate& op) {
  kernels::gelu_backward(elements(at), op.function == Activation::GeluTanh, at.in(0), at.grad_out(),
                         at.grad_in(0));
}

void backward_of(const StepOperands& at, const Experts& op) {
  const kernels::ExpertsGradients g{at.gradient_data(op.router), at.gradient_data(op.gate),
                                    at.gradient_data(op.up), at.gradient_data(op.down)};
  at.run.loss.balance += at.tape().balance_loss;
  kernels::experts_backward(experts_shape(op, at.rows(), at.run.weights), experts_weights(op, at.run.weights),
                            at.in(0), at.grad_out(), at.tape(), static_cast<float>(at.run.scale.balance),
                            at.grad_in(0), g);
}

// The gradient of a sum goes to both terms as it is; one of them may have taken over its storage.
void backward_of(const StepOperands& at, const Add&) {
  for (int i = 0; i < 2; i++) {
    if (!at.inherits(i)) kernels::accumulate(elements(at), at.grad_out(), at.grad_in(i));
  }
}

void backward_of(const StepOperands& at, const Mix& op) {
  kernels::mix_backward(elements(at), op.scale, at.weight_data(op.weight), at.in(0), at.in(1), at.grad_out(),
                        at.grad_in(0), at.grad_in(1), at.gradient_data(op.weight));
}

void backward_of(const StepOperands& at, const Logits& op) {
  count(at.run.loss,
        kernels::cross_entropy_gradient(loss_shape(at), at.in(0), at.weight(op.weight),
                                        at.run.batch.targets.data(), static_cast<float>(at.run.scale.token),
                                        at.grad_in(0), at.weight_gradient(op.weight), nullptr));
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
                   const auto found = kernels::cross_entropy(loss_shape(at), at.in(0), at.weight(o.weight),
                                                             at.run.batch.targets.data(), nullptr);
                   count(at.run.loss, found);
                   at.run.loss.correct = at.run.loss.correct.value_or(0) + found.correct;
                 },
                 [](const auto&) {},
             },
             op);
}

void backward(const StepOperands& at, const Op& op) {
  at.clear_fresh();
  std::visit([&](const auto& o) { backward_of(at, o); }, op);
}

int64_t side_floats(const Op& op, int64_t rows) {
  const auto* attend = std::get_if<Attend>(&op);
  return attend ? rows * attend->heads : 0;
}

}  // namespace onceover::cpu
