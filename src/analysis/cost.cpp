#include "analysis/cost.h"

#include <algorithm>

#include "base/error.h"

namespace onceover {
namespace {

// FLOPs an element of the less regular ops; exp, sigmoid's parts and a division count 1 each.
constexpr double norm_flops = 4;     // square, sum, scale, weight
constexpr double rope_flops = 3;     // of each of a pair: two products and a sum
constexpr double swiglu_flops = 5;   // negate, exp, add, divide, product
constexpr double gelu_flops = 9;     // a polynomial, an exp, a division and products
constexpr double mix_flops = 3;      // two products and a sum
constexpr double softmax_flops = 5;  // a score: maximum, subtract, exp, sum, divide
constexpr double retain_update = 3;  // an element of the matrix: decay, product, sum
constexpr double retain_output = 2;  // an element of the matrix: product, sum

// Pairs (row, seen row) for rows 0 .. n-1.
int64_t pairs_below(int64_t n, int window) {
  const int64_t growing = window == 0 ? n : std::min<int64_t>(n, window);
  return growing * (growing + 1) / 2 + (n - growing) * window;
}

struct Call {
  int64_t past, fresh, logit_rows;
  int64_t end() const { return past + fresh; }
};

// Walks the demanded steps once and adds up.
class Counter {
 public:
  Counter(const Plan& plan, const Analysis& analysis, const Call& call)
      : plan_(plan), analysis_(analysis), call_(call), touched_(plan.weights.size()) {}

  Cost count() {
    for (size_t i = 0; i < plan_.steps.size(); i++) {
      const int64_t rows = demanded_rows(analysis_.demand[i], call_.fresh, call_.logit_rows);
      // The recurrence moves on with every row, whoever asks for its output.
      const bool runs = rows > 0 || (analysis_.demand[i] != Rows::None && is_retain(plan_.steps[i]));
      if (runs) count_step(plan_.steps[i], rows);
    }
    for (size_t w = 0; w < touched_.size(); w++) {
      cost_.weight_elements_read += touched_[w];
      cost_.weight_elements_distinct += std::min(touched_[w], elements(static_cast<WeightId>(w)));
    }
    for (const Slot& slot : analysis_.slots) count_written(slot);
    return cost_;
  }

 private:
  static bool is_retain(const Step& step) { return std::holds_alternative<Retain>(step.op); }

  double elements(WeightId w) const { return static_cast<double>(plan_.weights[w].elements()); }
  double width(ValueId v) const { return plan_.steps[v].width; }
  void read(WeightId w, double share = 1) { touched_[w] += share * elements(w); }
  void other(const Step& step, int64_t rows, double flops) {
    cost_.flops.other += flops * static_cast<double>(rows) * step.width;
  }

  void count_step(const Step& step, int64_t rows) {
    std::visit(Overload{
                   [&](const Embed& o) { embed(step, o, rows); },
                   [&](const Norm& o) { norm(step, o, rows); },
                   [&](const Linear& o) {
                     cost_.flops.linear += product(o.weight, rows);
                     if (o.bias == no_weight) return;
                     other(step, rows, 1);
                     read(o.bias);
                   },
                   [&](const Rope&) { other(step, rows, rope_flops); },
                   [&](const Attend& o) { attend(step, o, rows); },
                   [&](const Retain& o) { retain(o, rows); },
                   [&](const Swiglu&) { other(step, rows, swiglu_flops); },
                   [&](const Activate&) { other(step, rows, gelu_flops); },
                   [&](const Experts& o) { experts(step, o, rows); },
                   [&](const Add&) { other(step, rows, 1); },
                   [&](const Mix& o) {
                     other(step, rows, mix_flops);
                     read(o.weight);
                   },
                   [&](const Logits& o) { cost_.flops.logits += product(o.weight, rows); },
               },
               step.op);
  }

  double product(WeightId w, int64_t rows) {
    read(w);
    return 2 * elements(w) * static_cast<double>(rows);
  }

  void embed(const Step& step, const Embed& o, int64_t rows) {
    if (o.scale != 1) other(step, rows, 1);
    const auto vocab = static_cast<double>(plan_.weights[o.table].shape[0]);
    read(o.table, std::min(1.0, static_cast<double>(rows) / vocab));
  }

  void norm(const Step& step, const Norm& o, int64_t rows) {
    const double absent = o.weight == no_weight ? 1 : 0, bias = o.bias == no_weight ? 0 : 1;
    other(step, rows, norm_flops - absent + bias + (o.centred ? 2 : 0));
    for (WeightId w : {o.weight, o.bias}) {
      if (w != no_weight) read(w);
    }
  }

  void attend(const Step& step, const Attend& o, int64_t rows) {
    const int64_t first = call_.end() - rows;
    const auto pairs = static_cast<double>(attended_pairs(first, call_.end(), o.mask.window));
    double& attention = o.mask.window == 0 ? cost_.flops.attention_full : cost_.flops.attention_window;
    attention += 2 * pairs * (width(o.q) + step.width);
    cost_.flops.other += softmax_flops * pairs * o.heads;
    const int64_t oldest = o.mask.window == 0 ? 0 : std::max<int64_t>(0, first + 1 - o.mask.window);
    double& seen = o.mask.window == 0 ? cost_.state_elements_read.every : cost_.state_elements_read.window;
    seen += static_cast<double>(call_.end() - oldest) * (width(o.k) + width(o.v));
  }

  void retain(const Retain& o, int64_t rows) {
    const auto matrix = static_cast<double>(matrix_elements(plan_, o));
    const auto fresh = static_cast<double>(call_.fresh);
    cost_.flops.retention += matrix * (retain_update * fresh + retain_output * static_cast<double>(rows));
    if (call_.fresh > 0) cost_.state_elements_read.matrix += matrix;
  }

  void experts(const Step& step, const Experts& o, int64_t rows) {
    const std::vector<int64_t>& shape = plan_.weights[o.gate].shape;  // [experts, ffn, width]
    const auto count = static_cast<double>(shape[0]);
    const double runs = static_cast<double>(rows) * o.active;
    const double ffn = static_cast<double>(shape[1]);
    cost_.flops.experts += product(o.router, rows) + runs * 6 * ffn * step.width;
    cost_.flops.other += softmax_flops * count * static_cast<double>(rows) +
                         runs * (swiglu_flops * ffn + 2 * static_cast<double>(step.width));
    for (WeightId w : {o.gate, o.up, o.down}) read(w, std::min(1.0, runs / count));
  }

  void count_written(const Slot& slot) {
    if (call_.fresh == 0) return;
    const int64_t rows = std::min(call_.fresh, slot.keep.rows(call_.end()));
    cost_.state_elements_written.of(slot.keep.kind) +=
        static_cast<double>(rows) * static_cast<double>(slot.width);
  }

  const Plan& plan_;
  const Analysis& analysis_;
  const Call call_;
  std::vector<double> touched_;  // elements read, by weight
  Cost cost_;
};

void check_call(const Call& call) {
  constexpr int64_t most = int64_t{1} << 30;
  if (call.past < 0 || call.fresh < 0 || call.past > most || call.fresh > most - call.past) {
    throw Error("cannot count a call of {} tokens on top of {}: expected 0 to {} in all", call.fresh,
                call.past, most);
  }
  if (call.logit_rows < 0 || call.logit_rows > call.fresh) {
    throw Error("cannot count logits of {} rows in a call of {} tokens", call.logit_rows, call.fresh);
  }
}

}  // namespace

int64_t attended_pairs(int64_t first, int64_t end, int window) {
  return pairs_below(end, window) - pairs_below(first, window);
}

Cost cost(const Plan& plan, const Analysis& analysis, int64_t past, int64_t fresh, int64_t logit_rows) {
  const Call call{past, fresh, logit_rows};
  check_call(call);
  return Counter(plan, analysis, call).count();
}

double training_flops_per_token(const Plan& plan, int64_t context) {
  if (context < 1) throw Error("training needs a context of at least 1 token, found {}", context);
  const Analysis every_row = analyse(plan, LogitRows::Every);
  return 3 * cost(plan, every_row, 0, context, context).flops.total() / static_cast<double>(context);
}

}  // namespace onceover
