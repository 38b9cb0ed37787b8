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
#include "plan/rope_angles.h"

namespace onceover {

using ValueId = int32_t;   // value i is made by step i
using WeightId = int32_t;  // index into Plan::weights
constexpr WeightId no_weight = -1;

// What a table is looked up by: the token, or the number of its row (learned positions, GPT-2).
enum class Lookup : uint8_t { Token, Row };

// y = scale * table[token or row]. table [vocab, width]; rows beyond it cannot be run (require_positions()).
struct Embed {
  WeightId table;
  float scale = 1;
  Lookup by = Lookup::Token;
};

// RMSNorm over each of `groups` equal parts of the row: y = x / sqrt(mean(x²) + eps) * weight + bias.
// centred: x - mean(x) instead of x, which is LayerNorm. weight and bias [width], or no_weight for none;
// shared: one weight [width / groups] for all parts. groups > 1 is the per-head "GroupNorm" of gated
// retention, and, shared, the norm of queries and keys of Qwen3.
struct Norm {
  ValueId x;
  WeightId weight;
  int groups = 1;
  float eps = 1e-5F;
  WeightId bias = no_weight;
  bool centred = false, shared = false;
};

// y = W x + bias. weight [out, in]; bias [out], or no_weight for none.
struct Linear {
  ValueId x;
  WeightId weight;
  WeightId bias = no_weight;
};

// Rotary position embedding by row number: in the first n = dims of each head (all of them when dims is 0),
// the pair (j, j + n/2) turns by row * frequency_j (rope_angles.h); the rest stays. No position embedding at
// all (NoPE) is the absence of this op.
struct Rope {
  ValueId x;
  int heads;
  RopeAngles angles = {};
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

enum class Activation : uint8_t { Gelu, GeluTanh };

// y = x Φ(x) (GELU, arXiv 1606.08415), or its form x/2 (1 + tanh(sqrt(2/π) (x + 0.044715 x³))).
struct Activate {
  ValueId x;
  Activation function;
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

using Op =
    std::variant<Embed, Norm, Linear, Rope, Attend, Retain, Swiglu, Activate, Experts, Add, Mix, Logits>;

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
                 [&](const Activate& o) { f("x", o.x, Reads::Row); },
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
                   if (o.bias != no_weight) f("bias", o.bias);
                 },
                 [&](const Linear& o) {
                   f("weight", o.weight);
                   if (o.bias != no_weight) f("bias", o.bias);
                 },
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
