// All weights of a plan in one arena each: values, gradients and the optimiser's two moments, f32, by
// WeightId.
#pragma once
#include <span>
#include <vector>

#include "cpu/kernels/buffer.h"
#include "plan/plan.h"

namespace onceover::cpu {

class Parameters {
 public:
  enum class Kind : uint8_t { Weight, Gradient, FirstMoment, SecondMoment };

  // Everything starts at zero. `kinds` are allocated, the others never.
  Parameters(const std::vector<WeightSpec>& specs, std::initializer_list<Kind> kinds);

  std::span<float> get(WeightId id, Kind kind) {
    return {arenas_[static_cast<size_t>(kind)].data() + offsets_[id], static_cast<size_t>(sizes_[id])};
  }
  std::span<const float> get(WeightId id, Kind kind) const {
    return {arenas_[static_cast<size_t>(kind)].data() + offsets_[id], static_cast<size_t>(sizes_[id])};
  }
  std::span<float> all(Kind kind) {
    return {arenas_[static_cast<size_t>(kind)].data(), static_cast<size_t>(floats_)};
  }
  int64_t bytes() const;

 private:
  std::vector<int64_t> offsets_, sizes_;
  int64_t floats_ = 0;
  std::array<kernels::Buffer, 4> arenas_;
};

}  // namespace onceover::cpu
