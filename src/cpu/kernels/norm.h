// RMSNorm over each of `groups` equal parts of a row: y = x / sqrt(mean(x²) + eps) * weight; LayerNorm, less
// its bias, when centred: x - mean(x) instead of x.
//
// x, y [rows, width]; weight [width], [width / groups] when shared by the groups, or null for none. Threads:
// by blocks of rows; results do not depend on their count.
#pragma once
#include "cpu/kernels/view.h"

namespace onceover::kernels {

struct NormShape {
  int64_t rows, width;
  int64_t groups = 1;
  float eps = 1e-5F;
  bool centred = false, shared = false;

  int64_t part() const { return width / groups; }
  int64_t weights() const { return shared ? part() : width; }
};

// Overwrites y, which may be x.
void norm_forward(const NormShape&, Input x, const float* weight, Output y);

// Adds to dx and, unless null, to dweight, of the weight's size.
void norm_backward(const NormShape&, Input x, const float* weight, Input dy, Output dx, float* dweight);

}  // namespace onceover::kernels
