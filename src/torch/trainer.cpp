#include "torch/trainer.h"

#include <algorithm>
#include <cmath>

#include "analysis/loops.h"
#include "torch/device.h"
#include "torch/memory.h"

namespace onceover::torch_executor {
namespace {

using Kind = TrainingExecutor::Tensor;

// The constants of one step of AdamW (arXiv 1711.05101), as the CPU executor takes them.
struct AdamWStep {
  double beta1, beta2, epsilon, step_size, root_scale, keep;
};

AdamWStep constants(const AdamW& s, bool decayed) {
  const auto t = static_cast<double>(s.step);
  return {s.beta1,
          s.beta2,
          s.epsilon,
          s.learning_rate / (1 - std::pow(s.beta1, t)),
          1 / std::sqrt(1 - std::pow(s.beta2, t)),
          decayed ? 1 - s.learning_rate * s.weight_decay : 1};
}

void adamw(const AdamWStep& s, const at::Tensor& gradient, at::Tensor weight, at::Tensor m, at::Tensor v) {
  m.mul_(s.beta1).add_(gradient, 1 - s.beta1);
  v.mul_(s.beta2).addcmul_(gradient, gradient, 1 - s.beta2);
  const at::Tensor root = v.sqrt().mul_(s.root_scale).add_(s.epsilon);
  weight.mul_(s.keep).addcdiv_(m, root, -s.step_size);
}

}  // namespace

Trainer::Trainer(PlanAtDepth plan_at_depth, const TorchOptions& options)
    : plan_at_depth_(std::move(plan_at_depth)),
      options_(options),
      device_(find_device(options.device)),
      weight_bytes_(weight_bytes(plan(0))) {
  use_threads(options.threads);
  for (WeightArena& arena : arenas_) arena = zero_arena(plan(0).weights, device_);
  // Gradients gather in the arena: backward() adds to a gradient that is there already.
  for (size_t id = 0; id < weights().size(); id++) {
    arenas_[static_cast<size_t>(Kind::Weight)].views[id].requires_grad_().mutable_grad() =
        arena(Kind::Gradient).views[id];
  }
}

const Plan& Trainer::plan(int loops) const {
  auto& found = plans_[loops];
  if (!found) found = std::make_unique<const Plan>(plan_at_depth_(loops));
  return *found;
}

TrainingPass Trainer::pass(const TokenBatch& batch, const Depth& depth) const {
  const Plan& p = plan(depth.loops);
  check_tokens(batch, p.steps[p.logits].width);
  require_positions(p, batch.length);
  return {p, arena(Kind::Weight).views, batch, device_, options_.bf16};
}

LossSum Trainer::accumulate(const TokenBatch& batch, const Depth& depth, double loss_scale,
                            double balance_scale) {
  const Plan& p = plan(depth.loops);
  const ValueId first = first_trained(p, depth.gradient_loops);
  step_bytes_ = std::max(step_bytes_, estimate_step_bytes(p, {batch.sequences, batch.length},
                                                          depth.gradient_loops, options_.recompute));
  return pass(batch, depth)
      .accumulate(training_segments(p, first, options_.recompute), first, {loss_scale, balance_scale});
}

LossSum Trainer::evaluate(const TokenBatch& batch, const Depth& depth) {
  return pass(batch, depth).evaluate();
}

double Trainer::gradient_norm() {
  std::vector<at::Tensor> norms;
  for (const at::Tensor& gradient : arena(Kind::Gradient).views) norms.push_back(gradient.norm());
  return at::stack(norms).to(at::kDouble).norm().item<double>();
}

void Trainer::update(const AdamW& settings) {
  const at::NoGradGuard no_graph;
  at::Tensor gradients = arena(Kind::Gradient).all;
  if (settings.gradient_scale != 1) gradients.mul_(settings.gradient_scale);
  for (size_t id = 0; id < weights().size(); id++) {
    const bool decayed = settings.decayed.empty() || settings.decayed[id];
    const auto view = [&](Kind which) { return arena(which).views[id]; };
    adamw(constants(settings, decayed), view(Kind::Gradient), view(Kind::Weight), view(Kind::FirstMoment),
          view(Kind::SecondMoment));
  }
  gradients.zero_();
}

std::vector<float> Trainer::read(WeightId id, Tensor which) const {
  return read_values(arena(which).views[id]);
}

void Trainer::write(WeightId id, Tensor which, std::span<const float> values) {
  write_values(arena(which).views[id], values, weights()[id].name);
}

std::string Trainer::find_nonfinite(const TokenBatch& batch, const Depth& depth) {
  std::string place;
  pass(batch, depth).evaluate([&](ValueId made, const at::Tensor& value) {
    if (at::isfinite(value).all().item<bool>()) return true;
    place = place_of(plan(depth.loops), made);
    return false;
  });
  return place;
}

std::vector<double> Trainer::loop_rms(const TokenBatch& batch, const Depth& depth) {
  const std::vector<ValueId> ends = loop_ends(plan(depth.loops));
  std::vector<double> rms;
  if (ends.empty()) return rms;
  pass(batch, depth).evaluate([&](ValueId made, const at::Tensor& value) {
    if (made != ends[rms.size()]) return true;
    rms.push_back(std::sqrt(value.to(at::kDouble).square().mean().item<double>()));
    return rms.size() < ends.size();
  });
  return rms;
}

}  // namespace onceover::torch_executor
