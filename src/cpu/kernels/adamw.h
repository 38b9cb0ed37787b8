// AdamW with decoupled weight decay (arXiv 1711.05101), and the norm of a gradient.
//
// Threads: by fixed blocks of 16384 floats; results do not depend on their count.
#pragma once
#include <cstdint>
#include <span>

namespace onceover::kernels {

struct AdamwSettings {
  float learning_rate, beta1 = 0.9F, beta2 = 0.95F, epsilon = 1e-8F;
  float weight_decay = 0;    // weight *= 1 - learning_rate * weight_decay
  int64_t step = 1;          // from 1: the bias corrections are 1 - beta^step
  float gradient_scale = 1;  // the clip factor: gradients are multiplied by it as they are read
};

// One step over one tensor. m and v start at zero. All spans have the same length.
void adamw(const AdamwSettings&, std::span<const float> gradient, std::span<float> weight, std::span<float> m,
           std::span<float> v);

// Σ x², summed in double in a fixed order. The global gradient norm is the root of the sum over tensors.
double sum_of_squares(std::span<const float> x);

}  // namespace onceover::kernels
