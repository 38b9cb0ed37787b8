// The closed set of operations. One op is one kernel of an executor; a model is a list of them (plan.h).
//
// Every value is a matrix [rows, width]: row i belongs to token i of the sequence. An op reads the same row
// of its inputs, except where it reads history: Attend (rows up to its own, by mask) and Retain (all rows up
// to its own, as a recurrence). Sources: methods named at each op; equations in docs/architectures.md.
#pragma once
#include <cstdint>
#include <string>
#include <variant>

#include "plan/mask.h"

namespace onceover {

using ValueId = int32_t;   // value i is made by step i
using WeightId = int32_t;  // index into Plan::weights
constexpr WeightId no_weight = -1;

// y = scale * table[token]. table [vocab, width].
struct Embed {
  WeightId table;
  float scale = 1;
};

// RMSNorm over each of `groups` equal parts of the row: y = x / sqrt(mean(x²) + eps) * weight. weight
// [width], or no_weight for none. groups > 1 is the per-head "GroupNorm" of gated retention.
struct Norm {
  ValueId x;
  WeightId weight;
  int groups = 1;
  float eps = 1e-5F;
};

// y = W x. weight [out, in].
struct Linear {
  ValueId x;
  WeightId weight;
};

// Rotary position embedding by row number, pairs (j, j + head_dim/2), angle row * theta^(-2j/head_dim). No
// position embedding at all (NoPE) is the absence of this op.
struct Rope {
  ValueId x;
  int heads;
  double theta = 10000;
};

// softmax(scale q kᵀ + mask) v per head; query head h reads key head h / (heads / kv_heads). k and v are
// history: any operand of this op outlives the call, as many rows of it as the mask lets later queries see.
struct Attend {
  ValueId q, k, v;
  int heads, kv_heads;
  Mask mask;
  float scale;
};

// Gated retention (YOCO, arXiv 2405.05254 eq. 5-7): per head S_n = γ_n S_{n-1} + k_nᵀ v_n, y_n = scale q_n
// S_n with γ_n = sigmoid(decay_n)^(1/temperature), a scalar per head and row. History is the matrix S
// [head_dim, v_head_dim]. decay [rows, heads].
struct Retain {
  ValueId q, k, v, decay;
  int heads;
  float temperature = 16;
  float scale;
};

// y = silu(gate) * up.
struct Swiglu {
  ValueId gate, up;
};

// Routed SwiGLU experts: p = softmax(router x) over all experts; the `active` largest run, weighted by p
// (divided by their sum if normalise). router [experts, width]; gate, up [experts, ffn, width]; down
// [experts, width, ffn]. balance is the coefficient of the load-balancing loss (Switch Transformer): experts
// * Σ_e f_e P_e, per layer. A shared expert is ordinary Linear and Swiglu steps beside this op.
struct Experts {
  ValueId x;
  WeightId router, gate, up, down;
  int active;
  bool normalise = true;
  float balance = 0;
};

// y = a + b.
struct Add {
  ValueId a, b;
};

// y = scale * (w[0] a + w[1] b), learned scalars: YOCO++'s KV residual (arXiv 2604.13556). weight [2].
struct Mix {
  ValueId a, b;
  WeightId weight;
  float scale;
};

// y = W x over the vocabulary. weight [vocab, width]; the embedding table itself when tied.
struct Logits {
  ValueId x;
  WeightId weight;
};

using Op = std::variant<Embed, Norm, Linear, Rope, Attend, Retain, Swiglu, Experts, Add, Mix, Logits>;

// How an op reads an input: the row being made, or that row and earlier ones.
enum class Reads : uint8_t { Row, History };

template <class... Fs>
struct Overload : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overload(Fs...) -> Overload<Fs...>;

// Calls f(label, ValueId, Reads) for every input, in order.
template <class F>
void for_inputs(const Op& op, F f) {
  std::visit(Overload{
                 [&](const Embed&) {},
                 [&](const Norm& o) { f("x", o.x, Reads::Row); },
                 [&](const Linear& o) { f("x", o.x, Reads::Row); },
                 [&](const Rope& o) { f("x", o.x, Reads::Row); },
                 [&](const Attend& o) {
                   f("q", o.q, Reads::Row);
                   f("k", o.k, Reads::History);
                   f("v", o.v, Reads::History);
                 },
                 [&](const Retain& o) {
                   f("q", o.q, Reads::Row);
                   f("k", o.k, Reads::History);
                   f("v", o.v, Reads::History);
                   f("decay", o.decay, Reads::History);
                 },
                 [&](const Swiglu& o) {
                   f("gate", o.gate, Reads::Row);
                   f("up", o.up, Reads::Row);
                 },
                 [&](const Experts& o) { f("x", o.x, Reads::Row); },
                 [&](const Add& o) {
                   f("a", o.a, Reads::Row);
                   f("b", o.b, Reads::Row);
                 },
                 [&](const Mix& o) {
                   f("a", o.a, Reads::Row);
                   f("b", o.b, Reads::Row);
                 },
                 [&](const Logits& o) { f("x", o.x, Reads::Row); },
             },
             op);
}

// Calls f(label, WeightId) for every weight, in order.
template <class F>
void for_weights(const Op& op, F f) {
  std::visit(Overload{
                 [&](const Embed& o) { f("table", o.table); },
                 [&](const Norm& o) {
                   if (o.weight != no_weight) f("weight", o.weight);
                 },
                 [&](const Linear& o) { f("weight", o.weight); },
                 [&](const Experts& o) {
                   f("router", o.router);
                   f("gate", o.gate);
                   f("up", o.up);
                   f("down", o.down);
                 },
                 [&](const Mix& o) { f("weight", o.weight); },
                 [&](const Logits& o) { f("weight", o.weight); },
                 [&](const auto&) {},
             },
             op);
}

// "linear", "attend", …
const char* op_name(const Op& op);

// The settings of an op as text, without its inputs and weights: "heads=20/4 window=512 scale=0.0884". "" for
// none.
std::string op_settings(const Op& op);

}  // namespace onceover
