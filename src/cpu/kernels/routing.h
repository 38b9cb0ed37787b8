// The router of the experts: who runs for which row, and the gradient of that choice. See experts.h.
#pragma once
#include "cpu/kernels/experts.h"

namespace onceover::kernels {

// Fills the tape but for gate and up.
void route(const ExpertsShape&, const float* router, Input x, ExpertsTape& tape);

// From dweights [rows, active], the gradient of each chosen weight, and the balance loss: adds to dx and
// drouter.
void route_backward(const ExpertsShape&, const float* router, Input x, const ExpertsTape& tape,
                    const float* dweights, float balance_factor, Output dx, float* drouter);

}  // namespace onceover::kernels
