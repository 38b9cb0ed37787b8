#include "torch/memory.h"

#include <algorithm>
#include <array>

#include "analysis/layers.h"

namespace onceover::torch_executor {
namespace {

// Keys that a query row of an Attend step is multiplied with.
int64_t keys_of(const Attend& op, int64_t length) {
  const bool windowed = op.mask.window > 0 && op.mask.window < length;
  return windowed ? 2 * op.mask.window : length;
}

// Floats that a step leaves behind for its backward pass, for each row.
int64_t saved_floats(const Plan& plan, const Step& step, int64_t length) {
  const int64_t width = step.width;
  return std::visit(
      Overload{
          [&](const Embed&) { return width; },
          [&](const Norm& o) { return (o.centred ? 4 : 3) * width; },
          [&](const Linear&) { return width; },
          [&](const Rope&) { return 2 * width; },
          [&](const Attend& o) {
            const int64_t operands = 3 * plan.steps[o.q].width + 2 * width;
            return operands + 3 * o.heads * keys_of(o, length);
          },
          [&](const Retain& o) { return 6 * plan.steps[o.q].width + 2 * width + 3 * o.heads * 64; },
          [&](const Swiglu&) { return 2 * width; },
          [&](const Activate&) { return width; },
          [&](const Experts& o) {
            return 2 * width + o.active * (4 * plan.weights[o.gate].shape[1] + 3 * width);
          },
          [&](const Add&) { return width; },
          [&](const Mix&) { return 3 * width; },
          [&](const Logits&) { return 3 * width; },
      },
      step.op);
}

int64_t segment_floats(const Plan& plan, const Segment& segment, int64_t length) {
  int64_t floats = 0;
  for (ValueId i = segment.first; i <= segment.last; i++) floats += saved_floats(plan, plan.steps[i], length);
  return floats;
}

// Widths of the values that a later segment reads.
int64_t crossing_floats(const Plan& plan, const std::vector<Segment>& segments) {
  std::vector<size_t> segment_of(plan.steps.size());
  for (size_t s = 0; s < segments.size(); s++) {
    for (ValueId i = segments[s].first; i <= segments[s].last; i++) segment_of[i] = s;
  }
  std::vector<bool> crosses(plan.steps.size());
  for (ValueId i = 0; i < static_cast<ValueId>(plan.steps.size()); i++) {
    for_inputs(plan.steps[i].op, [&](const char*, ValueId v, Reads) {
      if (segment_of[v] != segment_of[i]) crosses[v] = true;
    });
  }
  int64_t floats = 0;
  for (size_t i = 0; i < crosses.size(); i++) floats += crosses[i] ? plan.steps[i].width : 0;
  return floats;
}

}  // namespace

int64_t estimate_step_bytes(const Plan& plan, StepSize size, int gradient_loops, Recompute recompute) {
  int64_t a_row = 0;
  if (recompute != Recompute::None) {
    const auto segments = layer_segments(plan, recompute == Recompute::Iterations);
    for (const Segment& s : segments) a_row = std::max(a_row, segment_floats(plan, s, size.length));
    a_row += 2 * crossing_floats(plan, segments);  // with their gradients
  } else {
    const auto last = static_cast<ValueId>(plan.steps.size()) - 1;
    a_row = segment_floats(plan, {first_trained(plan, gradient_loops), last}, size.length);
  }
  return a_row * size.sequences * size.length * static_cast<int64_t>(sizeof(float));
}

int64_t weight_bytes(const Plan& plan) {
  constexpr int64_t numbers_a_weight = 4;
  int64_t elements = 0;
  for (const WeightSpec& spec : plan.weights) elements += spec.elements();
  return numbers_a_weight * elements * static_cast<int64_t>(sizeof(float));
}

}  // namespace onceover::torch_executor
