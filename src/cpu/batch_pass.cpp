#include "cpu/batch_pass.h"

#include <algorithm>
#include <cstring>

#include "cpu/kernels/retention.h"

namespace onceover::cpu {
namespace {

size_t float_bytes(int64_t floats) { return static_cast<size_t>(floats) * sizeof(float); }

}  // namespace

BatchPass::BatchPass(DepthPlan& plan, const WeightTable& weights, PassMemory& memory,
                     std::span<const PassPart> parts)
    : plan_(plan), weights_(weights), memory_(memory), parts_(parts) {
  for (const PassPart& part : parts) {
    const auto count = std::ssize(part.tokens), silent = count - part.logit_rows;
    all_.push_back({rows(), count});
    asked_.push_back({logit_rows(), part.logit_rows});
    for (int64_t i = 0; i < count; i++) {
      const int32_t token = part.tokens[static_cast<size_t>(i)];
      tokens_.push_back(token);
      positions_.push_back(part.state->tokens() + i);
      if (i < silent) continue;
      logit_tokens_.push_back(token);
      logit_positions_.push_back(positions_.back());
    }
  }
}

BatchPass::PartRows BatchPass::part_rows(size_t part, ValueId v) const {
  return only_logits(v) ? asked_[part] : all_[part];
}

int64_t BatchPass::layer_rows() const {
  int64_t sum = 0;
  for (const ValueId end : plan_.layer_ends) sum += rows_of(end);
  return sum;
}

kernels::Output BatchPass::buffer(int id, int64_t width) const {
  return {memory_.arena.data() + planned_->buffers[static_cast<size_t>(id)].offset, width};
}

kernels::Input BatchPass::read(ValueId step, int i, ValueId v) {
  const kernels::Input from = buffer(at_->in[static_cast<size_t>(i)], width(v));
  const bool same_rows = only_logits(step) == only_logits(v) || logit_rows() == rows();
  return same_rows ? from : gather(v, from);
}

kernels::Input BatchPass::gather(ValueId v, kernels::Input from) {
  const auto [found, fresh] = gathered_.try_emplace(v);
  kernels::Buffer& copy = found->second;
  if (!fresh) return {copy.data(), width(v)};
  float* to = copy.reserve(logit_rows() * width(v));
  for (size_t p = 0; p < parts_.size(); p++) {
    const int64_t first = all_[p].first + all_[p].count - asked_[p].count;
    std::memcpy(to + asked_[p].first * width(v), from[first], float_bytes(asked_[p].count * width(v)));
  }
  return {copy.data(), width(v)};
}

void BatchPass::run(float* logits) {
  const DepthPlan::Scratch& scratch = plan_.scratch(rows());
  planned_ = &scratch.memory;
  memory_.arena.reserve(planned_->arena_floats);
  for (size_t i = 0; i < scratch.actions.size(); i++) {
    at_ = &planned_->operands[i];
    run_step(scratch.actions[i].step, logits);
  }
  for (const PassPart& part : parts_) part.state->advance(std::ssize(part.tokens));
}

void BatchPass::run_step(ValueId step, float* logits) {
  const Op& op = plan_.plan.steps[step].op;
  // The recurrence moves on with every row, whoever asks for its output.
  if (rows_of(step) == 0 && !(std::holds_alternative<Retain>(op) && demand(step) != Rows::None)) return;
  std::visit(Overload{
                 [&](const Retain& o) { retain(step, o); },
                 [&](const Rope& o) { rope(step, o); },
                 [&](const Attend& o) { attend(step, o); },
                 [&](const Logits& o) {
                   const RowWork work = row_work(step);
                   multiply(weights_, o.weight, work.rows, work.in[0], {logits, work.width});
                 },
                 [&](const auto&) {
                   RowWork work = row_work(step);
                   work.out = buffer(at_->out, work.width);
                   forward_rows(op, work, weights_);
                 },
             },
             op);
  const bool kept = plan_.analysis.slot_of[step] >= 0;
  if (kept && !std::holds_alternative<Retain>(op)) store(step);
}

RowWork BatchPass::row_work(ValueId step) {
  RowWork work{.rows = rows_of(step),
               .width = width(step),
               .tokens = only_logits(step) ? logit_tokens_.data() : tokens_.data(),
               .positions = only_logits(step) ? logit_positions_.data() : positions_.data(),
               .tape = &memory_.tape};
  int n = 0;
  for_inputs(plan_.plan.steps[step].op, [&](const char*, ValueId v, Reads) {
    work.in_width[n] = width(v);
    work.in[n] = read(step, n, v);
    n++;
  });
  return work;
}

void BatchPass::store(ValueId step) {
  const kernels::Input made = buffer(at_->out, width(step));
  for (size_t p = 0; p < parts_.size(); p++) {
    parts_[p]
        .state->rows(plan_.analysis.slot_of[step])
        .append({made[all_[p].first], made.stride}, all_[p].count);
  }
}

void BatchPass::rope(ValueId step, const Rope& op) {
  const int64_t head_dim = width(step) / op.heads;
  const auto& table =
      rope_tables_
          .try_emplace({head_dim, op.angles, only_logits(step)}, head_dim, op.angles,
                       std::span<const int64_t>(only_logits(step) ? logit_positions_ : positions_))
          .first->second;
  kernels::rope_forward({rows_of(step), op.heads}, table, read(step, 0, op.x), buffer(at_->out, width(step)));
}

void BatchPass::attend(ValueId step, const Attend& op) {
  const kernels::Input q = read(step, 0, op.q);
  const kernels::Output y = buffer(at_->out, width(step));
  std::vector<kernels::PagedCall> calls;
  for (size_t p = 0; p < parts_.size(); p++) {
    const auto [first, count] = part_rows(p, step);
    if (count == 0) continue;
    SequenceState& state = *parts_[p].state;
    const PagedRows& k = state.rows(plan_.analysis.slot_of[op.k]);
    const PagedRows& v = state.rows(plan_.analysis.slot_of[op.v]);
    kernels::AttendShape shape{};
    shape.q_rows = count;
    shape.k_rows = k.rows();
    shape.q_offset = k.rows() - count;
    shape.heads = op.heads;
    shape.kv_heads = op.kv_heads;
    shape.head_dim = width(op.k) / op.kv_heads;
    shape.v_head_dim = width(op.v) / op.kv_heads;
    shape.window = op.mask.window;
    shape.scale = op.scale;
    calls.push_back({shape, {q[first], q.stride}, k.view(), v.view(), {y[first], y.stride}});
  }
  kernels::attend_paged(calls);
}

void BatchPass::retain(ValueId step, const Retain& op) {
  for (size_t p = 0; p < parts_.size(); p++) retain_part(p, step, op);
}

// Rows before the demanded ones have no query: they only move the state on, with their key standing in.
void BatchPass::retain_part(size_t part, ValueId step, const Retain& op) {
  float* matrix = parts_[part].state->matrix(plan_.analysis.slot_of[step]).data();
  const auto [first, count] = all_[part];
  const PartRows wanted = part_rows(part, step);
  const auto history = [&](int i, ValueId v, int64_t row) {
    const kernels::Input all = buffer(at_->in[static_cast<size_t>(i)], width(v));
    return kernels::Input{all[row], all.stride};
  };
  const auto take = [&](int64_t row, int64_t rows, kernels::Input q, kernels::Output y) {
    if (rows == 0) return;
    const kernels::RetainShape shape{.sequences = 1,
                                     .rows = rows,
                                     .heads = op.heads,
                                     .head_dim = width(op.k) / op.heads,
                                     .v_head_dim = width(op.v) / op.heads,
                                     .temperature = op.temperature,
                                     .scale = op.scale};
    const auto kernel = rows == 1 ? kernels::retain_step : kernels::retain_forward;
    kernel(shape, q, history(1, op.k, row), history(2, op.v, row), history(3, op.decay, row), y, matrix);
  };
  const int64_t silent = count - wanted.count;
  std::vector<float> unread(static_cast<size_t>(silent * width(step)));
  take(first, silent, history(1, op.k, first), {unread.data(), width(step)});
  if (wanted.count == 0) return;
  const kernels::Input q = read(step, 0, op.q);
  const kernels::Output y = buffer(at_->out, width(step));
  take(first + silent, wanted.count, {q[wanted.first], q.stride}, {y[wanted.first], y.stride});
}

}  // namespace onceover::cpu
