#include "cpu/kernels/routing.h"

#include <algorithm>
#include <numeric>

#include "cpu/kernels/leaves.h"
#include "cpu/kernels/linear.h"
#include "cpu/kernels/threads.h"

namespace onceover::kernels {
namespace {

size_t at(int64_t index) { return static_cast<size_t>(index); }

bool is_real(const ExpertsShape& s, int64_t row) { return !s.real || s.real[row] != 0; }

// 8 rows at a time, whatever their number: a row's choice must not depend on the rows beside it.
void multiply_router(const ExpertsShape& s, const float* router, Input x, Output p) {
  constexpr int64_t rows_at_once = 8;
  const int64_t groups = (s.rows + rows_at_once - 1) / rows_at_once;
  const int threads =
      threads_for(static_cast<double>(s.rows * s.experts) * static_cast<double>(s.width), groups);
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
  for (int64_t group = 0; group < groups; ++group) {
    const int64_t first = group * rows_at_once;
    leaves().linear_few(std::min(rows_at_once, s.rows - first), s.experts, s.width, {x[first], x.stride},
                        {router, s.width}, {p[first], p.stride});
  }
}

void choose_row(const ExpertsShape& s, const float* p, int32_t* order, int32_t* chosen, float* weights) {
  std::iota(order, order + s.experts, 0);
  std::partial_sort(order, order + s.active, order + s.experts,
                    [p](int32_t a, int32_t b) { return p[a] != p[b] ? p[a] > p[b] : a < b; });
  float total = 0;
  for (int64_t j = 0; j < s.active; ++j) {
    chosen[j] = order[j];
    total += p[order[j]];
  }
  for (int64_t j = 0; j < s.active; ++j) weights[j] = s.normalise ? p[order[j]] / total : p[order[j]];
}

void sort_slots(const ExpertsShape& s, ExpertsTape& tape) {
  tape.first_slot.assign(at(s.experts + 1), 0);
  for (const int32_t expert : tape.chosen) {
    if (expert >= 0) ++tape.first_slot[at(expert + 1)];
  }
  std::partial_sum(tape.first_slot.begin(), tape.first_slot.end(), tape.first_slot.begin());
  std::vector<int64_t> next = tape.first_slot;
  tape.slot.assign(tape.chosen.size(), -1);
  tape.slot_row.resize(at(tape.first_slot.back()));
  tape.slot_rank.resize(tape.slot_row.size());
  for (size_t choice = 0; choice < tape.chosen.size(); ++choice) {
    if (tape.chosen[choice] < 0) continue;
    const int64_t slot = next[at(tape.chosen[choice])]++;
    tape.slot[choice] = static_cast<int32_t>(slot);
    tape.slot_row[at(slot)] = static_cast<int32_t>(static_cast<int64_t>(choice) / s.active);
    tape.slot_rank[at(slot)] = static_cast<int32_t>(static_cast<int64_t>(choice) % s.active);
  }
}

int64_t real_rows(const ExpertsShape& s) {
  return s.real ? std::count_if(s.real, s.real + s.rows, [](uint8_t real) { return real != 0; }) : s.rows;
}

// The share of choices that fell on each expert.
std::vector<double> shares(const ExpertsShape& s, const ExpertsTape& tape) {
  std::vector<double> share(at(s.experts));
  const double choices = static_cast<double>(std::max<int64_t>(1, tape.first_slot.back()));
  for (int64_t e = 0; e < s.experts; ++e) {
    share[at(e)] = static_cast<double>(tape.first_slot[at(e + 1)] - tape.first_slot[at(e)]) / choices;
  }
  return share;
}

double balance_loss(const ExpertsShape& s, const ExpertsTape& tape) {
  const std::vector<double> share = shares(s, tape);
  double total = 0;
  for (int64_t row = 0; row < s.rows; ++row) {
    if (!is_real(s, row)) continue;
    for (int64_t e = 0; e < s.experts; ++e)
      total += share[at(e)] * tape.probabilities[at(row * s.experts + e)];
  }
  return s.balance * static_cast<double>(s.experts) * total /
         static_cast<double>(std::max<int64_t>(1, real_rows(s)));
}

// Into dp: the gradient of the probabilities by way of the chosen weights.
void add_choice_gradient(const ExpertsShape& s, const float* p, const int32_t* chosen, const float* weights,
                         const float* dweights, float* dp) {
  if (!s.normalise) {
    for (int64_t j = 0; j < s.active; ++j) dp[chosen[j]] += dweights[j];
    return;
  }
  float total = 0, along = 0;
  for (int64_t j = 0; j < s.active; ++j) {
    total += p[chosen[j]];
    along += dweights[j] * weights[j];
  }
  for (int64_t j = 0; j < s.active; ++j) dp[chosen[j]] += (dweights[j] - along) / total;
}

}  // namespace

void route(const ExpertsShape& s, const float* router, Input x, ExpertsTape& tape) {
  tape.probabilities.resize(at(s.rows * s.experts));
  tape.chosen.assign(at(s.rows * s.active), -1);
  tape.weights.assign(tape.chosen.size(), 0);
  const Output p{tape.probabilities.data(), s.experts};
  multiply_router(s, router, x, p);
  std::vector<int32_t> order(at(s.experts));
  for (int64_t row = 0; row < s.rows; ++row) {
    if (!is_real(s, row)) continue;
    const double log_total = leaves().log_sum_exp(s.experts, p[row]);
    leaves().exp_shifted(s.experts, static_cast<float>(log_total), 1, p[row]);
    choose_row(s, p[row], order.data(), &tape.chosen[at(row * s.active)], &tape.weights[at(row * s.active)]);
  }
  sort_slots(s, tape);
  tape.balance_loss = balance_loss(s, tape);
}

void route_backward(const ExpertsShape& s, const float* router, Input x, const ExpertsTape& tape,
                    const float* dweights, float balance_factor, Output dx, float* drouter) {
  const std::vector<double> share = shares(s, tape);
  const double balance = balance_factor * s.balance * static_cast<double>(s.experts) /
                         static_cast<double>(std::max<int64_t>(1, real_rows(s)));
  std::vector<float> dlogits(at(s.rows * s.experts), 0);
  for (int64_t row = 0; row < s.rows; ++row) {
    if (!is_real(s, row)) continue;
    const float* p = &tape.probabilities[at(row * s.experts)];
    float* d = &dlogits[at(row * s.experts)];
    for (int64_t e = 0; e < s.experts; ++e) d[e] = static_cast<float>(balance * share[at(e)]);
    const size_t choice = at(row * s.active);
    add_choice_gradient(s, p, &tape.chosen[choice], &tape.weights[choice], dweights + choice, d);
    const float along = leaves().dot(s.experts, p, d);
    for (int64_t e = 0; e < s.experts; ++e) d[e] = p[e] * (d[e] - along);
  }
  const LinearShape linear{s.rows, s.width, s.experts};
  linear_backward_input(linear, {dlogits.data(), s.experts}, {router, s.width}, dx);
  linear_backward_weight(linear, {dlogits.data(), s.experts}, x, {drouter, s.width});
}

}  // namespace onceover::kernels
