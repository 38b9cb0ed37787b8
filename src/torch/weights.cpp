#include "torch/weights.h"

#include "base/error.h"

namespace onceover::torch_executor {

WeightArena zero_arena(const std::vector<WeightSpec>& specs, at::Device device) {
  int64_t total = 0;
  for (const WeightSpec& spec : specs) total += spec.elements();
  WeightArena arena{at::zeros({total}, at::TensorOptions(device).dtype(at::kFloat)), {}};
  int64_t first = 0;
  for (const WeightSpec& spec : specs) {
    arena.views.push_back(arena.all.narrow(0, first, spec.elements()).view(spec.shape));
    first += spec.elements();
  }
  return arena;
}

void write_values(const at::Tensor& view, std::span<const float> values, const std::string& name) {
  if (static_cast<int64_t>(values.size()) != view.numel()) {
    throw Error("weight {} has {} elements, cannot take {}", name, view.numel(), values.size());
  }
  // from_blob takes no const; it is only read.
  const at::Tensor host = at::from_blob(const_cast<float*>(values.data()), view.sizes(), at::kFloat);
  const at::NoGradGuard no_graph;
  at::Tensor(view).copy_(host);
}

std::vector<float> read_values(const at::Tensor& view) {
  const at::Tensor host = view.detach().cpu().contiguous();
  return {host.data_ptr<float>(), host.data_ptr<float>() + host.numel()};
}

}  // namespace onceover::torch_executor
