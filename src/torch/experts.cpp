#include "torch/ops.h"

namespace onceover::torch_executor {
namespace {

// What the router chose. Ties go to the lower expert: a stable sort, since topk promises no order.
struct Choices {
  Tensor expert;  // [rows, active]
  Tensor weight;  // [rows, active]
};

Choices choose(const Experts& op, const Tensor& probabilities) {
  const auto [sorted, order] = at::sort(probabilities, /*stable=*/true, -1, /*descending=*/true);
  const Tensor weight = sorted.narrow(1, 0, op.active);
  return {order.narrow(1, 0, op.active), op.normalise ? weight / weight.sum(-1, true) : weight};
}

// Choices by expert: `order` sorts the flattened ones, expert e has counts[e] of them.
struct Slots {
  Tensor order, counts;
};

Slots sort_by_expert(const Choices& choices, int64_t experts) {
  const Tensor flat = choices.expert.flatten();
  return {std::get<1>(at::sort(flat, /*stable=*/true, 0, /*descending=*/false)),
          at::bincount(flat, {}, experts)};
}

Tensor run_expert(const Tensor& x, const ExpertWeights& w, int64_t e) {
  return at::linear(swiglu(at::linear(x, w.gate[e]), at::linear(x, w.up[e])), w.down[e]);
}

}  // namespace

ExpertsResult experts(const Experts& op, const Tensor& x, const ExpertWeights& w) {
  const Tensor rows = x.flatten(0, 1);
  const int64_t count = w.gate.size(0);
  const Tensor probabilities = at::softmax(at::linear(rows.to(at::kFloat), w.router), -1);
  const Choices choices = choose(op, probabilities);
  const Slots slots = sort_by_expert(choices, count);
  const Tensor on_cpu = slots.counts.cpu();  // the one wait for a GPU
  const Tensor inputs = rows.to(w.gate.scalar_type()), weights = choices.weight.flatten();
  Tensor y = at::zeros(rows.sizes(), rows.options().dtype(at::kFloat));
  for (int64_t e = 0, first = 0; e < count; e++) {
    const int64_t chosen = on_cpu.data_ptr<int64_t>()[e];
    if (chosen == 0) continue;
    const Tensor slot = slots.order.narrow(0, first, chosen), row = slot.floor_divide(op.active);
    const Tensor out =
        run_expert(inputs.index_select(0, row), w, e) * weights.index_select(0, slot).unsqueeze(-1);
    y.index_add_(0, row, out.to(at::kFloat));
    first += chosen;
  }
  const Tensor share = slots.counts.to(at::kFloat) / static_cast<double>(choices.expert.numel());
  const Tensor balance = (share * probabilities.mean(0)).sum() * (op.balance * static_cast<double>(count));
  return {y.view(x.sizes()), balance};
}

}  // namespace onceover::torch_executor
