// y = x Wᵀ and its gradients. x [rows, inputs], weight [outputs, inputs], y [rows, outputs].
//
// Threads: those of gemm. A result repeats bit for bit at the same thread count.
#pragma once
#include "cpu/kernels/view.h"

namespace onceover::kernels {

struct LinearShape {
  int64_t rows, inputs, outputs;
};

// Overwrites y. Up to 8 rows, where the weight is read once and no library is fast, take a kernel of their
// own.
void linear_forward(const LinearShape&, Input x, Input weight, Output y);

// dx += dy W
void linear_backward_input(const LinearShape&, Input dy, Input weight, Output dx);

// dweight += dyᵀ x
void linear_backward_weight(const LinearShape&, Input dy, Input x, Output dweight);

}  // namespace onceover::kernels
