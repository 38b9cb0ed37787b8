#include "cpu/kernels/experts.h"

#include <algorithm>

#include "cpu/kernels/buffer.h"
#include "cpu/kernels/elementwise.h"
#include "cpu/kernels/leaves.h"
#include "cpu/kernels/linear.h"
#include "cpu/kernels/routing.h"
#include "cpu/kernels/threads.h"

namespace onceover::kernels {
namespace {

size_t at(int64_t index) { return static_cast<size_t>(index); }

// f(i) for i < items, each a row of `width` floats.
template <class F>
void for_slots(int64_t items, int64_t width, F f) {
  const int threads = threads_for(2.0 * static_cast<double>(items * width), items);
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
  for (int64_t i = 0; i < items; ++i) f(i);
}

// The rows of `from` that an expert's slots stand for.
void gather(const ExpertsShape& s, const ExpertsTape& tape, int64_t first, int64_t slots, Input from,
            Output to) {
  for_slots(slots, s.width,
            [&](int64_t i) { std::copy_n(from[tape.slot_row[at(first + i)]], s.width, to[i]); });
}

// Room for the slots of the expert that has most of them.
int64_t most_slots(const ExpertsShape& s, const ExpertsTape& tape) {
  int64_t most = 0;
  for (int64_t e = 0; e < s.experts; ++e)
    most = std::max(most, tape.first_slot[at(e + 1)] - tape.first_slot[at(e)]);
  return most;
}

// One expert: its slots and the matrices of the backward pass, [slots, width] or [slots, ffn].
struct ExpertRun {
  int64_t expert, first, slots;
  Output x, dy, hidden, dhidden, dgate, dup, dx;
};

// dhidden becomes w * (dy down); hidden becomes w * silu(gate) * up; dweights receive hidden · (dy down).
void weigh(const ExpertsShape& s, const ExpertsTape& tape, const ExpertRun& r, float* dweights) {
  const Leaves& leaf = leaves();
  for_slots(r.slots, s.ffn, [&](int64_t i) {
    const int64_t slot = r.first + i;
    const size_t choice = at(tape.slot_row[at(slot)] * s.active + tape.slot_rank[at(slot)]);
    dweights[choice] = leaf.dot(s.ffn, r.hidden[i], r.dhidden[i]);
    for (int64_t j = 0; j < s.ffn; ++j) {
      r.hidden[i][j] *= tape.weights[choice];
      r.dhidden[i][j] *= tape.weights[choice];
    }
  });
}

void backward_expert(const ExpertsShape& s, const ExpertsWeights& w, const ExpertsTape& tape,
                     const ExpertRun& r, float* dweights, Output dx, const ExpertsGradients& g) {
  const int64_t offset = r.expert * s.ffn * s.width;
  const ElementShape ffn{r.slots, s.ffn}, width{r.slots, s.width};
  const LinearShape into{r.slots, s.width, s.ffn}, out_of{r.slots, s.ffn, s.width};
  const Input gate{&tape.gate[at(r.first * s.ffn)], s.ffn}, up{&tape.up[at(r.first * s.ffn)], s.ffn};
  swiglu_forward(ffn, gate, up, r.hidden);
  zero(ffn, r.dhidden);
  linear_backward_input(out_of, r.dy, {w.down + offset, s.ffn}, r.dhidden);
  weigh(s, tape, r, dweights);
  linear_backward_weight(out_of, r.dy, r.hidden, {g.down + offset, s.ffn});
  zero(ffn, r.dgate);
  zero(ffn, r.dup);
  swiglu_backward(ffn, gate, up, r.dhidden, r.dgate, r.dup);
  linear_backward_weight(into, r.dgate, r.x, {g.gate + offset, s.width});
  linear_backward_weight(into, r.dup, r.x, {g.up + offset, s.width});
  zero(width, r.dx);
  linear_backward_input(into, r.dgate, {w.gate + offset, s.width}, r.dx);
  linear_backward_input(into, r.dup, {w.up + offset, s.width}, r.dx);
  // A row occurs at most once among an expert's slots.
  for_slots(r.slots, s.width,
            [&](int64_t i) { leaves().add_scaled(s.width, 1, r.dx[i], dx[tape.slot_row[at(r.first + i)]]); });
}

}  // namespace

void experts_forward(const ExpertsShape& s, const ExpertsWeights& w, Input x, Output y, ExpertsTape& tape) {
  const auto product = [](const float* stack, int64_t inputs, int64_t outputs) {
    return [=](int64_t expert, int64_t rows, Input from, Output to) {
      linear_forward({rows, inputs, outputs}, from, {stack + expert * inputs * outputs, inputs}, to);
    };
  };
  experts_forward(
      s, w.router,
      {product(w.gate, s.width, s.ffn), product(w.up, s.width, s.ffn), product(w.down, s.ffn, s.width)}, x, y,
      tape);
}

void experts_forward(const ExpertsShape& s, const float* router, const ExpertProducts& multiply, Input x,
                     Output y, ExpertsTape& tape) {
  route(s, router, x, tape);
  const int64_t slots = tape.first_slot.back();
  tape.gate.resize(at(slots * s.ffn));
  tape.up.resize(at(slots * s.ffn));
  const int64_t most = most_slots(s, tape);
  Buffer input(most * s.width), hidden(most * s.ffn), output(slots * s.width);
  for (int64_t e = 0; e < s.experts; ++e) {
    const int64_t first = tape.first_slot[at(e)], count = tape.first_slot[at(e + 1)] - first;
    if (count == 0) continue;
    const Output rows{input.data(), s.width}, h{hidden.data(), s.ffn};
    const Output gate{&tape.gate[at(first * s.ffn)], s.ffn}, up{&tape.up[at(first * s.ffn)], s.ffn};
    gather(s, tape, first, count, x, rows);
    multiply.gate(e, count, rows, gate);
    multiply.up(e, count, rows, up);
    swiglu_forward({count, s.ffn}, gate, up, h);
    multiply.down(e, count, h, {output.data() + first * s.width, s.width});
  }
  for_slots(s.rows, s.width * s.active, [&](int64_t row) {
    std::fill_n(y[row], s.width, 0.0F);
    for (int64_t choice = row * s.active; choice < (row + 1) * s.active; ++choice) {
      if (tape.slot[at(choice)] < 0) continue;
      leaves().add_scaled(s.width, tape.weights[at(choice)], output.data() + tape.slot[at(choice)] * s.width,
                          y[row]);
    }
  });
}

void experts_backward(const ExpertsShape& s, const ExpertsWeights& w, Input x, Input dy,
                      const ExpertsTape& tape, float balance_factor, Output dx, const ExpertsGradients& g) {
  const int64_t most = most_slots(s, tape);
  Buffer wide(3 * most * s.width), narrow(4 * most * s.ffn);
  const auto part = [most](const Buffer& buffer, int64_t index, int64_t width) {
    return Output{buffer.data() + index * most * width, width};
  };
  std::vector<float> dweights(at(s.rows * s.active), 0);
  for (int64_t e = 0; e < s.experts; ++e) {
    const int64_t first = tape.first_slot[at(e)], slots = tape.first_slot[at(e + 1)] - first;
    if (slots == 0) continue;
    const ExpertRun run{.expert = e,
                        .first = first,
                        .slots = slots,
                        .x = part(wide, 0, s.width),
                        .dy = part(wide, 1, s.width),
                        .hidden = part(narrow, 0, s.ffn),
                        .dhidden = part(narrow, 1, s.ffn),
                        .dgate = part(narrow, 2, s.ffn),
                        .dup = part(narrow, 3, s.ffn),
                        .dx = part(wide, 2, s.width)};
    gather(s, tape, first, slots, x, run.x);
    gather(s, tape, first, slots, dy, run.dy);
    backward_expert(s, w, tape, run, dweights.data(), dx, g);
  }
  route_backward(s, w.router, x, tape, dweights.data(), balance_factor, dx, g.router);
}

}  // namespace onceover::kernels
