#include "torch/engine.h"

#include <algorithm>

#include "base/error.h"
#include "torch/device.h"

namespace onceover::torch_executor {
namespace {

Tensor last_rows(const Tensor& x, int64_t rows) { return x.narrow(1, x.size(1) - rows, rows); }

std::vector<Tensor> on_device(const Plan& plan, const std::vector<std::vector<float>>& numbers,
                              at::Device device) {
  if (numbers.size() != plan.weights.size()) {
    throw Error("the plan has {} weights, found {}", plan.weights.size(), numbers.size());
  }
  std::vector<Tensor> weights;
  for (size_t id = 0; id < numbers.size(); id++) {
    const WeightSpec& spec = plan.weights[id];
    weights.push_back(at::empty(spec.shape, at::TensorOptions(device).dtype(at::kFloat)));
    write_values(weights.back(), numbers[id], spec.name);
  }
  return weights;
}

}  // namespace

InferenceEngine::InferenceEngine(Plan plan, std::vector<std::vector<float>> weights,
                                 const TorchOptions& options)
    : plan_(std::move(plan)),
      analysis_(analyse(plan_)),
      device_(find_device(options.device)),
      weights_(on_device(plan_, weights, device_)),
      reader_(weights_, options.bf16),
      values_(plan_.steps.size()) {
  use_threads(options.threads);
  reset();
}

void InferenceEngine::reset() {
  tokens_ = 0;
  caches_.clear();
  matrices_.assign(analysis_.slots.size(), {});
  const auto options = at::TensorOptions(device_).dtype(at::kFloat);
  for (size_t s = 0; s < analysis_.slots.size(); s++) {
    const Slot& slot = analysis_.slots[s];
    caches_.emplace_back(slot.width, slot.keep.window, options);
    if (slot.keep.kind != Retention::Kind::Matrix) continue;
    const auto& op = std::get<Retain>(plan_.steps[slot.value].op);
    const int64_t k_dim = plan_.steps[op.k].width / op.heads, v_dim = plan_.steps[op.v].width / op.heads;
    matrices_[s] = at::zeros({1, op.heads, k_dim, v_dim}, options);
  }
}

void InferenceEngine::run(std::span<const int32_t> tokens, int64_t logit_rows, float* logits) {
  const at::NoGradGuard no_graph;
  const auto fresh = static_cast<int64_t>(tokens.size());
  const Tensor ids =
      at::from_blob(const_cast<int32_t*>(tokens.data()), {1, fresh}, at::kInt).to(at::kLong).to(device_);
  require_positions(plan_, tokens_ + fresh);
  tokens_ += fresh;
  for (ValueId i = 0; i < static_cast<ValueId>(plan_.steps.size()); i++) {
    const int64_t rows = demanded_rows(analysis_.demand[i], fresh, logit_rows);
    // The recurrence moves on with every row, whoever asks for its output.
    const auto* retain_op = std::get_if<Retain>(&plan_.steps[i].op);
    if (retain_op && analysis_.demand[i] != Rows::None) {
      values_[i] = retain_step(*retain_op, i, rows);
      continue;
    }
    if (rows == 0) continue;
    values_[i] = step(i, ids, rows);
    if (i == plan_.logits) std::ranges::copy(read_values(values_[i]), logits);
    if (analysis_.slot_of[i] >= 0) caches_[analysis_.slot_of[i]].append(values_[i].to(at::kFloat));
  }
  for (Tensor& value : values_) value.reset();
}

Tensor InferenceEngine::step(ValueId i, const Tensor& tokens, int64_t rows) {
  const Op& op = plan_.steps[i].op;
  RowInputs given{last_rows(tokens, rows), tokens_ - rows, {}};
  auto& in = given.in;
  int n = 0;
  for_inputs(op, [&](const char*, ValueId v, Reads reads) {
    in[n++] = reads == Reads::History ? caches_[analysis_.slot_of[v]].rows() : last_rows(values_[v], rows);
  });
  const RowResult row = run_row_op(op, given, reader_);
  if (row.y.defined()) return row.y;
  return std::visit(
      Overload{
          [&](const Rope& o) {
            return rope(o, in[0],
                        rope_table(o.angles, plan_.steps[i].width / o.heads, tokens_ - rows, rows, device_));
          },
          [&](const Attend& o) { return attend_history(o, in[0].to(at::kFloat), in[1], in[2]); },
          [&](const Logits& o) { return head(o, in[0], reader_); },
          [](const auto&) { return Tensor(); },
      },
      op);
}

// Rows before the demanded ones have no query: they only move the state on, with their key standing in.
Tensor InferenceEngine::retain_step(const Retain& op, ValueId i, int64_t rows) {
  const Tensor &k = values_[op.k], &v = values_[op.v], &decay = values_[op.decay];
  const int64_t silent = k.size(1) - rows;
  Tensor q = k.narrow(1, 0, silent).to(at::kFloat);
  if (rows > 0) q = at::cat({q, last_rows(values_[op.q], rows).to(at::kFloat)}, 1);
  return last_rows(retain(op, q, k, v, decay, matrices_[analysis_.slot_of[i]]), rows);
}

}  // namespace onceover::torch_executor
