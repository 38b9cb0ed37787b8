// The weights of a model on a device, and as a pass reads them.
#pragma once
#include <span>
#include <vector>

#include "plan/plan.h"
#include "torch/compat.h"

namespace onceover::torch_executor {

// One f32 tensor for all weights, and a view of each by WeightId, so that a sum over all weights is one
// kernel.
struct WeightArena {
  at::Tensor all;
  std::vector<at::Tensor> views;
};
WeightArena zero_arena(const std::vector<WeightSpec>& specs, at::Device device);

// Host numbers in and out of a view. Error when `values` has another number of elements.
void write_values(const at::Tensor& view, std::span<const float> values, const std::string& name);
std::vector<float> read_values(const at::Tensor& view);

// What a pass multiplies with: the f32 weights, or bfloat16 copies made at their first use. Copies are part
// of autograd's graph; forget() them with it.
class WeightReader {
 public:
  WeightReader(const std::vector<at::Tensor>& weights, bool bf16)
      : weights_(weights), copies_(bf16 ? weights.size() : 0) {}

  const at::Tensor& f32(WeightId id) const { return weights_[id]; }
  const at::Tensor& factor(WeightId id) {
    if (copies_.empty()) return weights_[id];
    if (!copies_[id].defined()) copies_[id] = weights_[id].to(at::kBFloat16);
    return copies_[id];
  }
  void forget() {
    for (at::Tensor& copy : copies_) copy.reset();
  }

 private:
  const std::vector<at::Tensor>& weights_;
  std::vector<at::Tensor> copies_;
};

}  // namespace onceover::torch_executor
