// y = x Wᵀ with packed weights: the products of inference.
//
// A row's result is bit-equal whatever rows stand beside it and however many threads share the work.
// Activations of quantised weights become 16-bit integers with a scale for every 32 (packed_rows.h): an error
// of 2e-5 of the largest of the 32, far below that of the weights.
#pragma once
#include "cpu/kernels/packed_matrix.h"
#include "cpu/kernels/packed_rows.h"

namespace onceover::kernels {

// Overwrites y [rows, w.outputs] with x [rows, w.inputs] Wᵀ.
void packed_linear(int64_t rows, Input x, const PackedMatrix& w, Output y);

}  // namespace onceover::kernels
