// Kernels that treat every element alike. All matrices are [rows, width]. Threads: by rows; results do not
// depend on their count.
#pragma once
#include "cpu/kernels/view.h"

namespace onceover::kernels {

struct ElementShape {
  int64_t rows, width;
};

// y = silu(gate) * up
void swiglu_forward(const ElementShape&, Input gate, Input up, Output y);
// Adds to dgate and dup.
void swiglu_backward(const ElementShape&, Input gate, Input up, Input dy, Output dgate, Output dup);

// y = x Φ(x), or the form with tanh.
void gelu_forward(const ElementShape&, bool tanh_form, Input x, Output y);
// Adds to dx.
void gelu_backward(const ElementShape&, bool tanh_form, Input x, Input dy, Output dx);

// y += bias [width] in every row
void add_bias(const ElementShape&, const float* bias, Output y);
// dbias [width] += the sum of the rows of dy
void bias_backward(const ElementShape&, Input dy, float* dbias);

// y = a + b. y may be a or b.
void add_forward(const ElementShape&, Input a, Input b, Output y);
// dx += dy: the gradient of both terms of a sum.
void accumulate(const ElementShape&, Input dy, Output dx);

// y = scale * (weight[0] a + weight[1] b)
void mix_forward(const ElementShape&, float scale, const float* weight, Input a, Input b, Output y);
// Adds to da, db and dweight [2].
void mix_backward(const ElementShape&, float scale, const float* weight, Input a, Input b, Input dy,
                  Output da, Output db, float* dweight);

// x = 0
void zero(const ElementShape&, Output x);

}  // namespace onceover::kernels
