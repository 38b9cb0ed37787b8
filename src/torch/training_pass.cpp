#include "torch/training_pass.h"

#include <algorithm>

namespace onceover::torch_executor {
namespace {

Tensor on_device(std::span<const int32_t> tokens, const TokenBatch& batch, at::Device device) {
  const Tensor host =
      at::from_blob(const_cast<int32_t*>(tokens.data()), {batch.sequences, batch.length}, at::kInt);
  return host.to(at::kLong).to(device);
}

std::vector<ValueId> last_readers(const Plan& plan, const std::vector<bool>& reaches) {
  std::vector<ValueId> last(plan.steps.size(), -1);
  for (ValueId i = 0; i < static_cast<ValueId>(plan.steps.size()); i++) {
    if (!reaches[i]) continue;
    for_inputs(plan.steps[i].op, [&](const char*, ValueId v, Reads) { last[v] = i; });
  }
  return last;
}

}  // namespace

std::vector<Segment> training_segments(const Plan& plan, ValueId first_trained, Recompute recompute) {
  const Segment whole{0, static_cast<ValueId>(plan.steps.size()) - 1};
  std::vector<Segment> cut;
  const auto segments = recompute == Recompute::None
                            ? std::vector<Segment>{whole}
                            : layer_segments(plan, recompute == Recompute::Iterations);
  for (const Segment& s : segments) {
    const bool straddles = s.first < first_trained && first_trained <= s.last;
    if (straddles) cut.push_back({s.first, first_trained - 1});
    cut.push_back({straddles ? first_trained : s.first, s.last});
  }
  return cut;
}

TrainingPass::TrainingPass(const Plan& plan, const std::vector<Tensor>& weights, const TokenBatch& batch,
                           at::Device device, bool bf16)
    : plan_(plan),
      weights_(weights, bf16),
      device_(device),
      inputs_(on_device(batch.inputs, batch, device)),
      targets_(on_device(batch.targets, batch, device)),
      scored_(std::ranges::count_if(batch.targets, [](int32_t target) { return target >= 0; })),
      reaches_(reaches_logits(plan)),
      last_reader_(last_readers(plan, reaches_)),
      values_(plan.steps.size()) {}

const RopeTable& TrainingPass::rope_table_of(const Rope& op, int64_t head_dim) {
  RopeTable& table = rope_tables_[{head_dim, op.angles}];
  if (!table.cosine.defined()) table = rope_table(op.angles, head_dim, 0, inputs_.size(1), device_);
  return table;
}

Tensor TrainingPass::step(ValueId i) {
  const Op& op = plan_.steps[i].op;
  RowInputs given{inputs_, 0, {}};
  auto& in = given.in;
  int n = 0;
  for_inputs(op, [&](const char*, ValueId v, Reads) { in[n++] = values_[v]; });
  const RowResult row = run_row_op(op, given, weights_);
  if (row.balance.defined()) {
    segment_balance_ = segment_balance_.defined() ? segment_balance_ + row.balance : row.balance;
  }
  if (row.y.defined()) return row.y;
  return std::visit(
      Overload{
          [&](const Rope& o) { return rope(o, in[0], rope_table_of(o, plan_.steps[i].width / o.heads)); },
          [&](const Attend& o) { return attend(o, in[0], in[1], in[2]); },
          [&](const Retain& o) {
            Tensor state =
                at::zeros({in[1].size(0), o.heads, in[1].size(2) / o.heads, in[2].size(2) / o.heads},
                          in[1].options().dtype(at::kFloat));
            return retain(o, in[0], in[1], in[2], in[3], state);
          },
          [&](const Logits& o) {
            const Tensor logits = head(o, in[0], weights_);
            loss_ = token_losses(logits, targets_);
            if (!at::GradMode::is_enabled()) correct_ = count_correct(logits, targets_);
            return Tensor();
          },
          [](const auto&) { return Tensor(); },
      },
      op);
}

// A value that nothing outside its segment reads goes as soon as its last reader has run; what autograd needs
// of it, autograd keeps.
bool TrainingPass::run(const Segment& segment, const Look& look) {
  for (ValueId i = segment.first; i <= segment.last; i++) {
    if (!reaches_[i]) continue;
    values_[i] = step(i);
    if (look && values_[i].defined() && !look(i, values_[i])) return false;
    for_inputs(plan_.steps[i].op, [&](const char*, ValueId v, Reads) {
      if (v >= segment.first && last_reader_[v] == i) values_[v].reset();
    });
  }
  return true;
}

std::vector<ValueId> TrainingPass::crossing(const Segment& segment) const {
  std::vector<ValueId> values;
  for (ValueId i = segment.first; i <= segment.last; i++) {
    if (last_reader_[i] > segment.last) values.push_back(i);
  }
  return values;
}

void TrainingPass::run_forwards(const Segment& segment, ValueId first_trained) {
  const at::NoGradGuard no_graph;
  run(segment);
  for (ValueId v : crossing(segment)) {
    values_[v] = values_[v].detach();
    if (segment.first >= first_trained) values_[v].requires_grad_();
  }
  segment_balance_.reset();
  weights_.forget();
}

// The gradient of a crossing value has gathered in the tensor that later segments read.
void TrainingPass::run_backwards(const Segment& segment, LossScale scale) {
  std::vector<std::pair<ValueId, Tensor>> arrived;
  for (ValueId v : crossing(segment)) arrived.emplace_back(v, values_[v].grad());
  run(segment);
  std::vector<Tensor> roots, gradients;
  for (const auto& [v, gradient] : arrived) {
    if (!values_[v].requires_grad() || !gradient.defined()) continue;
    roots.push_back(values_[v]);
    gradients.push_back(gradient);
  }
  const auto add_root = [&](const Tensor& sum, double factor) {
    roots.push_back(sum);
    gradients.push_back(at::full_like(sum, factor));
  };
  const bool holds_loss = plan_.logits >= segment.first && plan_.logits <= segment.last;
  if (holds_loss) add_root(loss_, scale.token);
  if (segment_balance_.defined()) add_root(segment_balance_, scale.balance);
  if (!roots.empty()) torch::autograd::backward(roots, gradients);
  if (segment_balance_.defined()) balance_ += segment_balance_.item<double>();
  segment_balance_.reset();
  if (holds_loss) loss_ = loss_.detach();
  for (ValueId v = segment.first; v <= segment.last; v++) values_[v].reset();
  weights_.forget();
}

LossSum TrainingPass::accumulate(const std::vector<Segment>& segments, ValueId first_trained,
                                 LossScale scale) {
  for (size_t s = 0; s + 1 < segments.size(); s++) run_forwards(segments[s], first_trained);
  for (auto s = segments.rbegin(); s != segments.rend() && s->first >= first_trained; ++s)
    run_backwards(*s, scale);
  return sum();
}

LossSum TrainingPass::evaluate(const Look& look) {
  const at::NoGradGuard no_graph;
  const bool complete = run({0, static_cast<ValueId>(plan_.steps.size()) - 1}, look);
  if (!complete) return {};
  if (segment_balance_.defined()) balance_ = segment_balance_.item<double>();
  return sum();
}

LossSum TrainingPass::sum() const {
  LossSum sum{loss_.item<double>(), scored_, balance_, {}};
  if (correct_.defined()) sum.correct = correct_.item<int64_t>();
  return sum;
}

}  // namespace onceover::torch_executor
