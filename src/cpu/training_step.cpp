#include "cpu/training_step.h"

#include "cpu/step_operands.h"

namespace onceover::cpu {
namespace {

WeightTable weight_table(const Plan& plan, const Parameters& parameters) {
  WeightTable table{&plan.weights, {}};
  for (WeightId id = 0; id < static_cast<WeightId>(plan.weights.size()); id++) {
    table.data.push_back(parameters.get(id, Parameters::Kind::Weight).data());
  }
  return table;
}

}  // namespace

TrainingStep::TrainingStep(const Plan& plan, StepShape shape, std::optional<ScheduleOptions> gradients)
    : plan_(plan),
      shape_(shape),
      actions_(gradients ? schedule_step(plan, *gradients) : schedule_forward(plan)),
      memory_(plan_memory(plan, actions_, shape.rows(),
                          [&](const Op& op) { return side_floats(op, shape.rows()); })),
      with_gradients_(gradients.has_value()) {
  for (const Step& step : plan.steps) {
    if (const auto* rope = std::get_if<Rope>(&step.op)) {
      const int64_t head_dim = step.width / rope->heads;
      rope_tables_.try_emplace({head_dim, rope->angles}, head_dim, rope->angles, 0, shape.length);
    }
  }
  for (int64_t row = 0; row < shape.rows(); row++) positions_.push_back(row % shape.length);
}

LossSum TrainingStep::run(const TokenBatch& batch, Parameters& parameters, float* arena, LossScale scale,
                          const Look& look) {
  StepRun state{plan_,        shape_,     batch,  parameters, weight_table(plan_, parameters), arena, scale,
                rope_tables_, positions_, tapes_, {}};
  for (size_t i = 0; i < actions_.size(); i++) {
    const auto [pass, step] = actions_[i];
    const StepOperands at(state, memory_, step, memory_.operands[i]);
    const Op& op = plan_.steps[step].op;
    if (pass == Pass::Backward) {
      backward(at, op);
      continue;
    }
    forward(at, op, with_gradients_);
    if (look && at.out() && !look(step, {at.out().data, static_cast<size_t>(at.rows() * at.width())})) break;
  }
  if (!with_gradients_) {
    for (const auto& [step, tape] : tapes_) state.loss.balance += tape.balance_loss;
  }
  return state.loss;
}

}  // namespace onceover::cpu
