// Routed SwiGLU experts: p = softmax(router x) over all experts, the `active` largest run, y = Σ w_e
// down_e(silu(gate_e x) * up_e x). Ties go to the lower expert number.
//
// x, y [rows, width]; router [experts, width]; gate, up [experts, ffn, width]; down [experts, width, ffn],
// all dense. The balance loss is Switch Transformer's (arXiv 2101.03961 eq. 4): balance * experts * Σ_e f_e
// P_e, where f_e is the share of the choices that fell on e and P_e the mean of p_e, both over the real rows
// of this call only: padding does not count, and a step in several calls has one term for each. It is balance
// for a uniform router, and at most balance * experts. Gradients flow through P alone. Threads: gemm's inside
// an expert, rows outside. Results repeat bit for bit at the same thread count.
#pragma once
#include <functional>
#include <vector>

#include "cpu/kernels/view.h"

namespace onceover::kernels {

struct ExpertsShape {
  int64_t rows, width, experts, active, ffn;
  bool normalise = true;  // divide the chosen p by their sum
  float balance = 0;
  const uint8_t* real = nullptr;  // [rows], 0 marks padding: routed as nowhere, y = 0. null: all real
};

struct ExpertsWeights {
  const float *router, *gate, *up, *down;
};

struct ExpertsGradients {
  float *router, *gate, *up, *down;
};

// What the forward pass chose and the backward pass needs. A slot is one (row, expert) pair; slots are sorted
// by expert, then by row.
struct ExpertsTape {
  std::vector<float> probabilities;  // [rows, experts]
  std::vector<int32_t> chosen;       // [rows, active], by falling probability; -1 for padding
  std::vector<float> weights;        // [rows, active]
  std::vector<int32_t> slot;         // [rows, active]: where the choice sits among the slots; -1 for padding
  std::vector<int32_t> slot_row, slot_rank;  // [slots]: its row, and its place among the row's choices
  std::vector<int64_t> first_slot;           // [experts + 1]
  std::vector<float> gate, up;               // [slots, ffn]
  double balance_loss = 0;
};

// y [rows, outputs] = x Wᵀ with the matrix of one expert.
using ExpertProduct = std::function<void(int64_t expert, int64_t rows, Input x, Output y)>;

struct ExpertProducts {
  ExpertProduct gate, up, down;
};

// Overwrites y and tape.
void experts_forward(const ExpertsShape&, const float* router, const ExpertProducts&, Input x, Output y,
                     ExpertsTape& tape);
void experts_forward(const ExpertsShape&, const ExpertsWeights&, Input x, Output y, ExpertsTape& tape);

// Adds to dx and to the weights' gradients. balance_factor is the factor of the balance loss in the total
// loss (1 when the call is the whole step).
void experts_backward(const ExpertsShape&, const ExpertsWeights&, Input x, Input dy, const ExpertsTape& tape,
                      float balance_factor, Output dx, const ExpertsGradients&);

}  // namespace onceover::kernels
