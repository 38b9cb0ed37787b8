#include "cpu/trainer.h"

#include <omp.h>

#include <algorithm>
#include <cmath>

#include "analysis/loops.h"
#include "base/error.h"
#include "cpu/ceilings.h"
#include "cpu/kernels/adamw.h"

namespace onceover::cpu {
namespace {

using Kind = Parameters::Kind;

Kind kind_of(TrainingExecutor::Tensor tensor) {
  switch (tensor) {
    case TrainingExecutor::Tensor::Weight:
      return Kind::Weight;
    case TrainingExecutor::Tensor::Gradient:
      return Kind::Gradient;
    case TrainingExecutor::Tensor::FirstMoment:
      return Kind::FirstMoment;
    case TrainingExecutor::Tensor::SecondMoment:
      return Kind::SecondMoment;
  }
  return Kind::Weight;
}

}  // namespace

Trainer::Trainer(PlanAtDepth plan_at_depth, const TrainerOptions& options)
    : plan_at_depth_(std::move(plan_at_depth)),
      options_(options),
      parameters_(plan(0).weights, {Kind::Weight, Kind::Gradient, Kind::FirstMoment, Kind::SecondMoment}) {
  omp_set_num_threads(options.threads > 0 ? options.threads : omp_get_num_procs());
}

double Trainer::peak_flops() const {
  const int threads = omp_get_max_threads();
  return fma_peak(threads) * threads;
}

const Plan& Trainer::plan(int loops) const {
  const auto found = plans_.find(loops);
  if (found != plans_.end()) return *found->second;
  auto made = std::make_shared<const Plan>(plan_at_depth_(loops));
  for (const auto& [depth, other] : plans_) {
    if (other->fingerprint() == made->fingerprint()) made = other;
  }
  return *plans_.emplace(loops, std::move(made)).first->second;
}

TrainingStep& Trainer::step(const Plan& p, const TokenBatch& batch, int gradient_loops, bool with_gradients) {
  const StepKey key{&p, gradient_loops, with_gradients, batch.sequences, batch.length};
  const auto found = steps_.find(key);
  if (found != steps_.end()) return found->second;
  std::optional<ScheduleOptions> gradients;
  if (with_gradients) gradients = ScheduleOptions{options_.recompute, gradient_loops};
  auto& made = steps_.try_emplace(key, p, StepShape{batch.sequences, batch.length}, gradients).first->second;
  arena_floats_ = std::max(arena_floats_, made.arena_floats());
  return made;
}

LossSum Trainer::run(const TokenBatch& batch, const Depth& depth, bool with_gradients, LossScale scale,
                     const TrainingStep::Look& look) {
  const Plan& p = plan(depth.loops);
  check_tokens(batch, p.steps[p.logits].width);
  require_positions(p, batch.length);
  TrainingStep& compiled = step(p, batch, depth.gradient_loops, with_gradients);
  return compiled.run(batch, parameters_, arena_.reserve(arena_floats_), scale, look);
}

LossSum Trainer::accumulate(const TokenBatch& batch, const Depth& depth, double loss_scale,
                            double balance_scale) {
  return run(batch, depth, true, {loss_scale, balance_scale});
}

LossSum Trainer::evaluate(const TokenBatch& batch, const Depth& depth) {
  return run(batch, depth, false, {});
}

double Trainer::gradient_norm() {
  return std::sqrt(kernels::sum_of_squares(parameters_.all(Kind::Gradient)));
}

void Trainer::update(const AdamW& settings) {
  kernels::AdamwSettings common{};
  common.learning_rate = static_cast<float>(settings.learning_rate);
  common.beta1 = static_cast<float>(settings.beta1);
  common.beta2 = static_cast<float>(settings.beta2);
  common.epsilon = static_cast<float>(settings.epsilon);
  common.step = settings.step;
  common.gradient_scale = static_cast<float>(settings.gradient_scale);
  for (WeightId id = 0; id < static_cast<WeightId>(weights().size()); id++) {
    const bool decayed = settings.decayed.empty() || settings.decayed[id];
    common.weight_decay = decayed ? static_cast<float>(settings.weight_decay) : 0;
    kernels::adamw(common, parameters_.get(id, Kind::Gradient), parameters_.get(id, Kind::Weight),
                   parameters_.get(id, Kind::FirstMoment), parameters_.get(id, Kind::SecondMoment));
  }
  std::ranges::fill(parameters_.all(Kind::Gradient), 0.0F);
}

std::vector<float> Trainer::read(WeightId id, Tensor which) const {
  const auto values = parameters_.get(id, kind_of(which));
  return {values.begin(), values.end()};
}

void Trainer::write(WeightId id, Tensor which, std::span<const float> values) {
  const auto into = parameters_.get(id, kind_of(which));
  if (values.size() != into.size()) {
    throw Error("weight {} has {} elements, cannot take {}", weights()[id].name, into.size(), values.size());
  }
  std::ranges::copy(values, into.begin());
}

std::string Trainer::find_nonfinite(const TokenBatch& batch, const Depth& depth) {
  std::string place;
  const Plan& p = plan(depth.loops);
  run(batch, depth, false, {}, [&](ValueId made, std::span<const float> value) {
    if (std::ranges::all_of(value, [](float x) { return std::isfinite(x); })) return true;
    place = place_of(p, made);
    return false;
  });
  return place;
}

std::vector<double> Trainer::loop_rms(const TokenBatch& batch, const Depth& depth) {
  const std::vector<ValueId> ends = loop_ends(plan(depth.loops));
  std::vector<double> rms;
  if (ends.empty()) return rms;
  run(batch, depth, false, {}, [&](ValueId made, std::span<const float> value) {
    if (made != ends[rms.size()]) return true;
    rms.push_back(std::sqrt(kernels::sum_of_squares(value) / static_cast<double>(value.size())));
    return rms.size() < ends.size();
  });
  return rms;
}

int64_t Trainer::planned_bytes() const {
  return parameters_.bytes() + arena_floats_ * static_cast<int64_t>(sizeof(float));
}

}  // namespace onceover::cpu
