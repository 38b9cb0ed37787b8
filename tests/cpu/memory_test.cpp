#include "cpu/memory.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "architectures/presets.h"
#include "architectures/registry.h"

namespace onceover::cpu {
namespace {

constexpr int64_t rows = 24;

int64_t side_floats(const Op& op) {
  return std::holds_alternative<Attend>(op) ? rows * std::get<Attend>(op).heads : 0;
}

std::vector<Plan> every_tiny_plan() {
  std::vector<Plan> plans;
  for (const auto& architecture : all_architectures())
    plans.push_back(build(*find_preset(architecture.name + "-tiny")));
  Config retention = *find_preset("yoco-tiny");
  retention.self_mixer = Mixer::Retention;
  plans.push_back(build(retention));
  return plans;
}

// An arena that remembers, for every stretch of it, what was written there last.
class Arena {
 public:
  void write(const PlannedBuffer& at, const std::string& what) {
    auto next = stretches_.lower_bound(at.offset);
    if (next != stretches_.begin() && std::prev(next)->second.end > at.offset) --next;
    while (next != stretches_.end() && next->first < at.offset + at.elements) next = stretches_.erase(next);
    stretches_[at.offset] = {at.offset + at.elements, what};
  }
  std::string read(const PlannedBuffer& at) const {
    const auto found = stretches_.find(at.offset);
    return found != stretches_.end() && found->second.end == at.offset + at.elements ? found->second.what
                                                                                     : "overwritten";
  }

 private:
  struct Stretch {
    int64_t end;
    std::string what;
  };
  std::map<int64_t, Stretch> stretches_;
};

// Plays the schedule on labels: every read must find the value or gradient it expects, in place or not.
void play(const Plan& plan, const ScheduleOptions& options) {
  const auto actions = schedule_step(plan, options);
  const MemoryPlan memory = plan_memory(plan, actions, rows, side_floats);
  Arena arena;
  const auto expect = [&](int buffer, const std::string& what, size_t action) {
    if (buffer != no_buffer) {
      ASSERT_EQ(arena.read(memory.buffers[buffer]), what) << "action " << action << "\n" << plan.text();
    }
  };
  for (size_t i = 0; i < actions.size(); i++) {
    const auto [pass, step] = actions[i];
    const Operands& o = memory.operands[i];
    const bool forward = pass == Pass::Forward;
    int input = 0;
    for_inputs(plan.steps[step].op, [&](const char*, ValueId v, Reads) {
      expect(o.in[input], fmt::format("value {}", v), i);
      if (!forward && o.grad_in[input] != no_buffer && !o.fresh[input])
        expect(o.grad_in[input], fmt::format("gradient {}", v), i);
      input++;
    });
    if (forward) {
      if (o.out != no_buffer) arena.write(memory.buffers[o.out], fmt::format("value {}", step));
      if (o.side != no_buffer) arena.write(memory.buffers[o.side], fmt::format("side {}", step));
      continue;
    }
    expect(o.out, fmt::format("value {}", step), i);
    expect(o.side, fmt::format("side {}", step), i);
    expect(o.grad_out, fmt::format("gradient {}", step), i);
    input = 0;
    for_inputs(plan.steps[step].op, [&](const char*, ValueId v, Reads) {
      if (o.grad_in[input] != no_buffer)
        arena.write(memory.buffers[o.grad_in[input]], fmt::format("gradient {}", v));
      input++;
    });
  }
}

TEST(Memory, EveryReadFindsWhatWasMadeForIt) {
  for (const Plan& plan : every_tiny_plan()) {
    for (Recompute recompute : {Recompute::None, Recompute::Layers, Recompute::Iterations}) {
      play(plan, {.recompute = recompute});
      play(plan, {.recompute = recompute, .gradient_loops = 1});
    }
  }
}

TEST(Memory, EveryTrainedStepGetsAGradientBeforeItsBackward) {
  for (const Plan& plan : every_tiny_plan()) {
    const auto actions = schedule_step(plan, {.recompute = Recompute::Layers});
    const MemoryPlan memory = plan_memory(plan, actions, rows, side_floats);
    for (size_t i = 0; i < actions.size(); i++) {
      if (actions[i].pass == Pass::Backward && actions[i].step != plan.logits) {
        EXPECT_NE(memory.operands[i].grad_out, no_buffer);
      }
    }
  }
}

int64_t arena_floats(const Config& config, int loops, Recompute recompute) {
  const Plan plan = build(config, Run{loops});
  return plan_memory(plan, schedule_step(plan, {.recompute = recompute}), rows, side_floats).arena_floats;
}

TEST(Memory, WithRecomputationALoopCostsItsResidualRowsOnly) {
  const Config config = *find_preset("yoco-u-tiny");
  const int64_t residual = rows * config.hidden_size;
  const int64_t boundaries_a_loop = config.num_hidden_layers / 2;
  for (int loops = 2; loops <= 8; loops++) {
    EXPECT_LE(
        arena_floats(config, loops, Recompute::Layers) - arena_floats(config, loops - 1, Recompute::Layers),
        residual * boundaries_a_loop);
    if (loops == 2) continue;  // a single iteration is not yet a loop
    EXPECT_LE(arena_floats(config, loops, Recompute::Iterations) -
                  arena_floats(config, loops - 1, Recompute::Iterations),
              residual);
  }
  EXPECT_LT(2 * arena_floats(config, 8, Recompute::Layers), arena_floats(config, 8, Recompute::None));
}

TEST(Memory, TruncatedGradientsLeaveEarlierLoopsOut) {
  const Plan plan = build(*find_preset("yoco-u-tiny"));
  for (const StepAction& action : schedule_step(plan, {.gradient_loops = 1})) {
    const int layer = layer_of(plan.scopes[plan.steps[action.step].scope]);
    const bool early_loop = plan.steps[action.step].loop < 2 && layer >= 0 && layer < 2;
    EXPECT_FALSE(early_loop && action.pass == Pass::Backward) << action.step;
  }
  const auto whole = schedule_step(plan, {}), all_three = schedule_step(plan, {.gradient_loops = 3});
  EXPECT_EQ(whole.size(), all_three.size());
}

}  // namespace
}  // namespace onceover::cpu
