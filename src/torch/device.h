// Which machine the tensors live on, by name.
#pragma once
#include <string>

#include "torch/compat.h"

namespace onceover::torch_executor {

// "cpu", "cuda" or "cuda:N". Error for another name, a libtorch without CUDA and a GPU that is not there.
at::Device find_device(const std::string& name);

// Threads of libtorch's CPU kernels; 0 = as many as the machine has.
void use_threads(int threads);

}  // namespace onceover::torch_executor
