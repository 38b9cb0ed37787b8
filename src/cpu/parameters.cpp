#include "cpu/parameters.h"

#include <algorithm>
#include <cstring>

namespace onceover::cpu {

Parameters::Parameters(const std::vector<WeightSpec>& specs, std::initializer_list<Kind> kinds) {
  for (const WeightSpec& spec : specs) {
    offsets_.push_back(floats_);
    sizes_.push_back(spec.elements());
    floats_ += kernels::whole_lines(spec.elements());
  }
  for (Kind kind : kinds) {
    std::memset(arenas_[static_cast<size_t>(kind)].reserve(floats_), 0,
                static_cast<size_t>(floats_) * sizeof(float));
  }
}

int64_t Parameters::bytes() const {
  const auto held = std::count_if(arenas_.begin(), arenas_.end(),
                                  [](const auto& arena) { return arena.data() != nullptr; });
  return held * floats_ * static_cast<int64_t>(sizeof(float));
}

}  // namespace onceover::cpu
