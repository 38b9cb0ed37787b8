// y = x Wᵀ with packed weights: the products of inference.
//
// A row's result is bit-equal whatever rows stand beside it and however many threads share the work.
// Activations that meet quantised weights become integers with a scale for every 32 of them (packed_rows.h):
// 7 bits of the largest of four for Q8, 8 bits of the largest of 32 for Q4.
#pragma once
#include "cpu/kernels/packed_matrix.h"
#include "cpu/kernels/packed_rows.h"

namespace onceover::kernels {

// Overwrites y [rows, w.outputs] with x [rows, w.inputs] Wᵀ.
void packed_linear(int64_t rows, Input x, const PackedMatrix& w, Output y);

}  // namespace onceover::kernels
