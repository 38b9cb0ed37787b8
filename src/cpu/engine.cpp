#include "cpu/engine.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "base/error.h"
#include "cpu/kernels/attention.h"
#include "cpu/kernels/linear.h"
#include "cpu/kernels/retention.h"
#include "cpu/kernels/rope.h"

namespace onceover::cpu {

// One chunk on its way through the plan. A value that runs fewer rows than the chunk has occupies the last
// rows of its buffer, so that an op may work in place whatever its input ran.
struct InferenceEngine::Call {
  const InferenceEngine& engine;
  std::span<const int32_t> tokens;
  int64_t logit_rows;
  const MemoryPlan& memory;
  float* arena;
  const Operands* at = nullptr;
  std::map<std::tuple<int64_t, double, int64_t>, kernels::RopeTable> rope_tables;  // by head_dim, theta, rows

  int64_t fresh() const { return static_cast<int64_t>(tokens.size()); }
  int64_t rows(ValueId v) const {
    switch (engine.analysis_.demand[v]) {
      case Rows::None:
        return 0;
      case Rows::Logits:
        return logit_rows;
      case Rows::All:
        return fresh();
    }
    return 0;
  }
  int64_t width(ValueId v) const { return engine.plan_.steps[v].width; }

  // The last `rows` rows of a buffer.
  kernels::Output last(int buffer, int64_t width, int64_t rows) const {
    return {arena + memory.buffers[buffer].offset + (fresh() - rows) * width, width};
  }
};

InferenceEngine::InferenceEngine(Plan plan, std::vector<std::vector<float>> weights)
    : plan_(std::move(plan)),
      analysis_(analyse(plan_)),
      weights_(std::move(weights)),
      table_{&plan_.weights, {}} {
  if (weights_.size() != plan_.weights.size()) {
    throw Error("the plan has {} weights, found {}", plan_.weights.size(), weights_.size());
  }
  for (const auto& weight : weights_) table_.data.push_back(weight.data());
  reset();
}

void InferenceEngine::reset() {
  tokens_ = 0;
  state_.clear();
  for (const Slot& slot : analysis_.slots) {
    if (slot.keep.kind == Retention::Kind::Matrix) {
      state_.emplace_back(Matrix(static_cast<size_t>(slot.width)));
    } else {
      state_.emplace_back(RowCache(slot.width, slot.keep.window));
    }
  }
}

const InferenceEngine::Scratch& InferenceEngine::scratch(int64_t rows) {
  const auto found = scratch_.find(rows);
  if (found != scratch_.end()) return found->second;
  Scratch made;
  made.actions = schedule_forward(plan_);
  made.memory = plan_memory(plan_, made.actions, rows, [](const Op&) { return 0; });
  return scratch_.emplace(rows, std::move(made)).first->second;
}

void InferenceEngine::run(std::span<const int32_t> tokens, int64_t logit_rows, float* logits) {
  const Scratch& s = scratch(static_cast<int64_t>(tokens.size()));
  Call call{*this, tokens, logit_rows, s.memory, arena_.reserve(s.memory.arena_floats), nullptr, {}};
  for (size_t i = 0; i < s.actions.size(); i++) {
    const ValueId step = s.actions[i].step;
    const int64_t rows = call.rows(step);
    const Op& op = plan_.steps[step].op;
    call.at = &s.memory.operands[i];
    // The recurrence moves on with every row, whoever asks for its output.
    if (const auto* o = std::get_if<Retain>(&op); o && analysis_.demand[step] != Rows::None) {
      retain(call, step, *o);
      continue;
    }
    if (rows == 0) continue;
    RowWork work{
        .rows = rows, .width = call.width(step), .tokens = &tokens[tokens.size() - rows], .tape = &tape_};
    if (call.at->out != no_buffer) work.out = call.last(call.at->out, work.width, rows);
    int n = 0;
    for_inputs(op, [&](const char*, ValueId v, Reads) {
      work.in_width[n] = call.width(v);
      work.in[n] = call.last(call.at->in[n], call.width(v), rows);
      n++;
    });
    if (!forward_rows(op, work, table_)) {
      std::visit(Overload{
                     [&](const Rope& o) { rope(call, step, o); },
                     [&](const Attend& o) { attend(call, step, o); },
                     [&](const Logits& o) {
                       kernels::linear_forward({rows, work.in_width[0], work.width}, work.in[0],
                                               table_.matrix(o.weight), {logits, work.width});
                     },
                     [](const auto&) {},
                 },
                 op);
    }
    const int slot = analysis_.slot_of[step];
    if (slot >= 0) {
      const kernels::Output into = std::get<RowCache>(state_[slot]).append(rows);
      std::memcpy(into.data, work.out.data, static_cast<size_t>(rows * work.width) * sizeof(float));
    }
  }
  tokens_ += call.fresh();
}

void InferenceEngine::rope(Call& call, ValueId step, const Rope& op) {
  const int64_t rows = call.rows(step), width = call.width(step), head_dim = width / op.heads;
  const auto& table =
      call.rope_tables
          .try_emplace({head_dim, op.theta, rows}, head_dim, op.theta, tokens_ + call.fresh() - rows, rows)
          .first->second;
  kernels::rope_forward({rows, op.heads}, table, call.last(call.at->in[0], width, rows),
                        call.last(call.at->out, width, rows));
}

void InferenceEngine::attend(const Call& call, ValueId step, const Attend& op) {
  const auto& k = std::get<RowCache>(state_[analysis_.slot_of[op.k]]);
  const auto& v = std::get<RowCache>(state_[analysis_.slot_of[op.v]]);
  const int64_t rows = call.rows(step);
  kernels::AttendShape shape{};
  shape.q_rows = rows;
  shape.k_rows = k.rows();
  shape.q_offset = k.rows() - rows;
  shape.heads = op.heads;
  shape.kv_heads = op.kv_heads;
  shape.head_dim = call.width(op.k) / op.kv_heads;
  shape.v_head_dim = call.width(op.v) / op.kv_heads;
  shape.window = op.mask.window;
  shape.scale = op.scale;
  kernels::attend_forward(shape, call.last(call.at->in[0], call.width(op.q), rows), k.view(), v.view(),
                          call.last(call.at->out, call.width(step), rows), nullptr);
}

// Rows before the demanded ones have no query: they only move the state on, with their key standing in.
void InferenceEngine::retain(const Call& call, ValueId step, const Retain& op) {
  Matrix& matrix = std::get<Matrix>(state_[analysis_.slot_of[step]]);
  const int64_t rows = call.rows(step), silent = call.fresh() - rows;
  const auto input = [&](int i, ValueId v, int64_t from_end) {
    return call.last(call.at->in[i], call.width(v), from_end);
  };
  const auto take = [&](int64_t count, int64_t from_end, kernels::Input q, kernels::Output y) {
    if (count == 0) return;
    const kernels::RetainShape shape{.sequences = 1,
                                     .rows = count,
                                     .heads = op.heads,
                                     .head_dim = call.width(op.k) / op.heads,
                                     .v_head_dim = call.width(op.v) / op.heads,
                                     .temperature = op.temperature,
                                     .scale = op.scale};
    kernels::retain_forward(shape, q, input(1, op.k, from_end), input(2, op.v, from_end),
                            input(3, op.decay, from_end), y, matrix.data());
  };
  std::vector<float> unread(static_cast<size_t>(silent * call.width(step)));
  take(silent, call.fresh(), input(1, op.k, call.fresh()), {unread.data(), call.width(step)});
  take(rows, rows, input(0, op.q, rows), call.last(call.at->out, call.width(step), rows));
}

}  // namespace onceover::cpu
