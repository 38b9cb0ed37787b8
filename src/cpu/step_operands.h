// What one action of a training step works on, as the kernels want it: views instead of buffer numbers.
#pragma once
#include "cpu/kernels/elementwise.h"
#include "cpu/kernels/experts.h"
#include "cpu/kernels/rope.h"
#include "cpu/kernels/view.h"
#include "cpu/row_ops.h"
#include "cpu/training_step.h"

namespace onceover::cpu {

// What a whole run shares.
struct StepRun {
  const Plan& plan;
  StepShape shape;
  const TokenBatch& batch;
  Parameters& parameters;
  WeightTable weights;  // those of `parameters`
  float* arena;
  LossScale scale;
  const RopeTables& rope_tables;
  const std::vector<int64_t>& positions;
  std::map<ValueId, kernels::ExpertsTape>& tapes;
  LossSum loss;
};

class StepOperands {
 public:
  StepOperands(StepRun& state, const MemoryPlan& memory, ValueId of_step, const Operands& at)
      : run(state), memory_(memory), step(of_step), at_(at) {
    int i = 0;
    for_inputs(run.plan.steps[step].op, [&](const char*, ValueId v, Reads) { inputs_[i++] = v; });
  }

  StepRun& run;

  int64_t rows() const { return run.shape.rows(); }
  int64_t width() const { return run.plan.steps[step].width; }
  int64_t in_width(int i) const { return run.plan.steps[inputs_[i]].width; }

  kernels::Input in(int i) const { return view(at_.in[i], in_width(i)); }
  kernels::Output out() const { return view(at_.out, width()); }
  float* side() const { return at_.side == no_buffer ? nullptr : address(at_.side); }

  // Gradients: of the step's own value, and of its inputs.
  kernels::Input grad_out() const { return view(at_.grad_out, width()); }
  kernels::Output grad_in(int i) const { return view(at_.grad_in[i], in_width(i)); }
  // Input i's gradient takes over the storage of the step's own.
  bool inherits(int i) const {
    return at_.grad_out != no_buffer && address(at_.grad_in[i]) == address(at_.grad_out);
  }
  // Clears the gradients that this action is the first to write, so that kernels can add to them.
  void clear_fresh() const {
    for (int i = 0; i < max_inputs; i++) {
      if (at_.fresh[i] && !inherits(i)) kernels::zero({rows(), in_width(i)}, grad_in(i));
    }
  }

  RowWork row_work() const {
    RowWork work{.rows = rows(),
                 .width = width(),
                 .out = out(),
                 .tokens = run.batch.inputs.data(),
                 .positions = run.positions.data()};
    for (int i = 0; i < max_inputs && at_.in[i] != no_buffer; i++) {
      work.in_width[i] = in_width(i);
      work.in[i] = in(i);
    }
    if (std::holds_alternative<Experts>(run.plan.steps[step].op)) work.tape = &tape();
    return work;
  }

  // weight [rows, columns], as stored.
  kernels::Input weight(WeightId id) const { return run.weights.matrix(id); }
  kernels::Output weight_gradient(WeightId id) const {
    return {gradient_data(id), run.plan.weights[id].shape.back()};
  }
  const float* weight_data(WeightId id) const { return run.weights.data[id]; }
  float* gradient_data(WeightId id) const {
    return run.parameters.get(id, Parameters::Kind::Gradient).data();
  }

  const kernels::RopeTable& rope_table(const Rope& op) const {
    return run.rope_tables.at({width() / op.heads, op.angles});
  }
  kernels::ExpertsTape& tape() const { return run.tapes[step]; }

 private:
  float* address(int buffer) const { return run.arena + memory_.buffers[buffer].offset; }
  kernels::Output view(int buffer, int64_t stride) const {
    return buffer == no_buffer ? kernels::Output{} : kernels::Output{address(buffer), stride};
  }

  const MemoryPlan& memory_;
  ValueId step;
  const Operands& at_;
  std::array<ValueId, max_inputs> inputs_{};
};

// One kernel call each, by op. The Logits op of a step with gradients does its work in `backward`.
void forward(const StepOperands& at, const Op& op, bool with_gradients);
void backward(const StepOperands& at, const Op& op);

// Floats that an op's forward pass leaves for its backward pass besides its value.
int64_t side_floats(const Op& op, int64_t rows);

}  // namespace onceover::cpu
