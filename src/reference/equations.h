// Every op as its equation, on one row, in double precision. Sources and choices: docs/architectures.md.
//
// A row is a vector of the op's width; a weight is flattened row-major. Sizes are taken from the arguments
// and must fit together, as the plan's builder checked. Pure functions.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "plan/op.h"

namespace onceover::reference {

using Vector = std::vector<double>;
using RowsOf = std::map<int64_t, Vector>;     // absolute row -> values
using RowViews = std::vector<const Vector*>;  // rows that attention sees, oldest first

Vector embed(const Embed& op, const Vector& table, int64_t index, int width);
Vector norm(const Norm& op, const Vector* weight, const Vector* bias, Vector x);  // null for none
Vector linear(const Vector& weight, const Vector& x);
Vector rope(const Rope& op, Vector x, int64_t row);
Vector attend(const Attend& op, const Vector& q, const RowViews& k, const RowViews& v);
Vector swiglu(const Vector& gate, const Vector& up);
Vector activate(const Activate& op, Vector x);
Vector add(Vector a, const Vector& b);
Vector mix(const Mix& op, const Vector& weight, const Vector& a, const Vector& b);

// Gated retention's state S is [heads, head_dim, v_head_dim]. A row is first taken in, then read out.
void take_in(const Retain& op, Vector& state, const Vector& k, const Vector& v, const Vector& decay);
Vector read_out(const Retain& op, const Vector& state, const Vector& q);

// Matrices of one Experts step, flattened: router [experts, width], gate and up [experts, ffn, width], down
// [experts, width, ffn].
struct ExpertWeights {
  const Vector &router, &gate, &up, &down;
};
Vector experts(const Experts& op, const ExpertWeights& weights, const Vector& x);

// The experts that run for a row, largest probability first; of equal ones the lowest index.
std::vector<int> chosen_experts(const Experts& op, const Vector& probabilities);

// softmax(router x) over all experts.
Vector router_probabilities(const Vector& router, const Vector& x);

// Load-balancing loss of one Experts step (Switch Transformer, arXiv 2101.03961 eq. 4-6; one choice there,
// `active` here):
//   experts * Σ_e f_e P_e,  f_e = share of all (row, choice) pairs that went to expert e,  P_e = mean of p_e.
// 1 when both are even; experts / active when the same `active` experts take everything with certainty. `x`
// holds the rows of real tokens: padding is never among them. Not multiplied by op.balance; 0 for no rows.
double balance_loss(const Experts& op, const Vector& router, const RowsOf& x);

}  // namespace onceover::reference
