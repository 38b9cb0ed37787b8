// Where every value, gradient and side result of a training step lives: planned before the step runs, in one
// arena.
//
// A buffer lives from the action that makes it to the last that reads it. Values that can share storage do: a
// rotation or sum over a dying input is done in place, and the gradient of a sum is handed on to its first
// term.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "cpu/schedule.h"

namespace onceover::cpu {

constexpr int max_inputs = 4;
constexpr int no_buffer = -1;

struct PlannedBuffer {
  int64_t elements = 0;    // floats
  int born = 0, dies = 0;  // indices into the actions
  int64_t offset = -1;     // floats from the start of the arena, whole cache lines
};

// The buffers one action works on.
struct Operands {
  std::array<int, max_inputs> in{no_buffer, no_buffer, no_buffer, no_buffer};  // values of the inputs
  int out = no_buffer;   // the value made (Forward) or read again (Backward)
  int side = no_buffer;  // what Forward leaves for Backward besides the value: log-sum-exps of attention
  int grad_out = no_buffer;
  std::array<int, max_inputs> grad_in{no_buffer, no_buffer, no_buffer, no_buffer};
  std::array<bool, max_inputs> fresh{};  // this action is the first to write that gradient
};

struct MemoryPlan {
  std::vector<PlannedBuffer> buffers;
  std::vector<Operands> operands;  // by action
  int64_t arena_floats = 0;        // the planned peak
};

// Floats of an op's side result for `rows` rows; 0 = none.
using SideSize = std::function<int64_t(const Op&)>;

MemoryPlan plan_memory(const Plan& plan, const std::vector<StepAction>& actions, int64_t rows,
                       const SideSize& side_size);

}  // namespace onceover::cpu
