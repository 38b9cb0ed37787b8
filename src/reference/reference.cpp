#include "reference/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>

namespace onceover::reference {
namespace {

// One call of Executor::run: the values made so far, and the rows they are made for.
class Call {
 public:
  Call(const Plan& plan, const Analysis& analysis, const Weights& weights, State& state,
       const std::vector<int>& tokens, const std::vector<int64_t>& asked)
      : plan_(plan),
        analysis_(analysis),
        weights_(weights),
        state_(state),
        tokens_(tokens),
        asked_(asked.begin(), asked.end()),
        values_(plan.steps.size()) {}

  void check_request() const;
  void open_state();
  const RowsOf& make(ValueId value);
  void close_state();

 private:
  int64_t end() const { return state_.tokens + static_cast<int64_t>(tokens_.size()); }
  bool demanded(ValueId value, int64_t row) const;
  RowsOf& slot(ValueId value);
  const Vector& at(ValueId value, int64_t row) const;
  RowViews history(ValueId value, int window, int64_t row);
  Vector row_of(ValueId value, int64_t row);

  const Plan& plan_;
  const Analysis& analysis_;
  const Weights& weights_;
  State& state_;
  const std::vector<int>& tokens_;
  const std::set<int64_t> asked_;
  std::vector<RowsOf> values_;
};

void Call::check_request() const {
  require_positions(plan_, end());
  for (const Step& step : plan_.steps) {
    const auto* embedding = std::get_if<Embed>(&step.op);
    if (!embedding || embedding->by != Lookup::Token) continue;
    const int64_t vocab = plan_.weights[embedding->table].shape[0];
    for (int token : tokens_)
      if (token < 0 || token >= vocab)
        throw std::out_of_range(fmt::format("token {} in a vocabulary of {}", token, vocab));
  }
  for (int64_t row : asked_)
    if (row < state_.tokens || row >= end())
      throw std::out_of_range(fmt::format("logits of row {} asked in a call that makes rows {} to {}", row,
                                          state_.tokens, end() - 1));
}

void Call::open_state() {
  if (state_.tokens == 0 && state_.slots.empty()) {
    state_.slots.resize(analysis_.slots.size());
    for (size_t i = 0; i < analysis_.slots.size(); i++)
      if (analysis_.slots[i].keep.kind == Retention::Kind::Matrix)
        state_.slots[i][0] = Vector(analysis_.slots[i].width);
  }
  if (state_.slots.size() != analysis_.slots.size())
    throw std::logic_error(
        fmt::format("the state has {} slots, the plan {}", state_.slots.size(), analysis_.slots.size()));
}

// Rings drop what the mask will hide from every later row.
void Call::close_state() {
  state_.tokens = end();
  for (size_t i = 0; i < analysis_.slots.size(); i++) {
    const Retention& keep = analysis_.slots[i].keep;
    if (keep.kind != Retention::Kind::Window) continue;
    RowsOf& rows = state_.slots[i];
    rows.erase(rows.begin(), rows.lower_bound(state_.tokens - keep.window));
  }
}

bool Call::demanded(ValueId value, int64_t row) const {
  const Rows demand = analysis_.demand[value];
  return demand == Rows::All || (demand == Rows::Logits && asked_.contains(row));
}

RowsOf& Call::slot(ValueId value) {
  const int index = analysis_.slot_of[value];
  if (index < 0) throw std::logic_error(fmt::format("value %{} is read as history but has no slot", value));
  return state_.slots[index];
}

const Vector& Call::at(ValueId value, int64_t row) const {
  const auto found = values_[value].find(row);
  if (found == values_[value].end())
    throw std::logic_error(fmt::format("row {} of value %{} was needed but not made", row, value));
  return found->second;
}

RowViews Call::history(ValueId value, int window, int64_t row) {
  const RowsOf& rows = slot(value);
  const int64_t first = window == 0 ? 0 : std::max<int64_t>(0, row - window + 1);
  RowViews views;
  for (auto it = rows.lower_bound(first); it != rows.end() && it->first <= row; ++it)
    views.push_back(&it->second);
  if (static_cast<int64_t>(views.size()) != row - first + 1)
    throw std::logic_error(fmt::format("row {} needs rows {} to {} of value %{}, {} of them are kept", row,
                                       first, row, value, views.size()));
  return views;
}

Vector Call::row_of(ValueId value, int64_t row) {
  const Step& step = plan_.steps[value];
  const auto in = [&](ValueId v) -> const Vector& { return at(v, row); };
  const auto weight = [&](WeightId w) -> const Vector& { return weights_[w]; };
  const auto optional = [&](WeightId w) { return w == no_weight ? nullptr : &weight(w); };
  return std::visit(
      Overload{
          [&](const Embed& o) {
            const int64_t index = o.by == Lookup::Row ? row : tokens_[row - state_.tokens];
            return embed(o, weight(o.table), index, step.width);
          },
          [&](const Norm& o) { return norm(o, optional(o.weight), optional(o.bias), in(o.x)); },
          [&](const Linear& o) {
            const Vector y = linear(weight(o.weight), in(o.x));
            return o.bias == no_weight ? y : add(y, weight(o.bias));
          },
          [&](const Rope& o) { return rope(o, in(o.x), row); },
          [&](const Attend& o) {
            return attend(o, in(o.q), history(o.k, o.mask.window, row), history(o.v, o.mask.window, row));
          },
          [&](const Retain& o) { return read_out(o, slot(value).at(0), in(o.q)); },
          [&](const Swiglu& o) { return swiglu(in(o.gate), in(o.up)); },
          [&](const Activate& o) { return activate(o, in(o.x)); },
          [&](const Experts& o) {
            return experts(o, {weight(o.router), weight(o.gate), weight(o.up), weight(o.down)}, in(o.x));
          },
          [&](const Add& o) { return add(in(o.a), in(o.b)); },
          [&](const Mix& o) { return mix(o, weight(o.weight), in(o.a), in(o.b)); },
          [&](const Logits& o) { return linear(weight(o.weight), in(o.x)); },
      },
      step.op);
}

const RowsOf& Call::make(ValueId value) {
  const auto* retain = std::get_if<Retain>(&plan_.steps[value].op);
  RowsOf& rows = values_[value];
  for (int64_t row = state_.tokens; row < end(); row++) {
    if (retain)
      take_in(*retain, slot(value).at(0), at(retain->k, row), at(retain->v, row), at(retain->decay, row));
    if (demanded(value, row)) rows[row] = row_of(value, row);
  }
  if (!retain && analysis_.slot_of[value] >= 0) {
    for (const auto& [row, values] : rows) slot(value)[row] = values;
  }
  return rows;
}

}  // namespace

Weights widen(const std::vector<TensorView>& tensors) {
  Weights wide;
  for (const TensorView& tensor : tensors) wide.push_back(to_f64(tensor));
  return wide;
}

int64_t State::elements() const {
  int64_t count = 0;
  for (const RowsOf& rows : slots)
    for (const auto& [row, values] : rows) count += static_cast<int64_t>(values.size());
  return count;
}

Executor::Executor(const Plan& plan, const Analysis& analysis, const Weights& weights)
    : plan_(plan), analysis_(analysis), weights_(weights) {
  if (analysis.demand.size() != plan.steps.size())
    throw std::logic_error(fmt::format("the analysis is of {} steps, the plan has {}", analysis.demand.size(),
                                       plan.steps.size()));
  if (weights.size() != plan.weights.size())
    throw std::logic_error(
        fmt::format("{} weights given, the plan has {}", weights.size(), plan.weights.size()));
  for (size_t w = 0; w < weights.size(); w++)
    if (static_cast<int64_t>(weights[w].size()) != plan.weights[w].elements())
      throw std::logic_error(fmt::format("weight {} has {} elements, expected {}", plan.weights[w].name,
                                         weights[w].size(), plan.weights[w].elements()));
}

RowsOf Executor::run(State& state, const std::vector<int>& tokens, const std::vector<int64_t>& asked,
                     const Observer& observe) const {
  Call call(plan_, analysis_, weights_, state, tokens, asked);
  call.check_request();
  call.open_state();
  RowsOf logits;
  for (ValueId value = 0; value < static_cast<ValueId>(plan_.steps.size()); value++) {
    if (analysis_.demand[value] == Rows::None) continue;
    const RowsOf& rows = call.make(value);
    if (observe) observe(value, rows);
    if (value == plan_.logits) logits = rows;
  }
  call.close_state();
  return logits;
}

}  // namespace onceover::reference
