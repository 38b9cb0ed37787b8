// Rotary position embedding: in the first n = turned dims of each head, the pair (j, j + n/2) turns by
// position * frequency_j (plan/rope_angles.h); the other dims stay.
//
// Angles, cosines and sines are computed in double and rounded once, so positions of a million are as good as
// position 1. Threads: by rows; results do not depend on their count.
#pragma once
#include <span>
#include <vector>

#include "cpu/kernels/view.h"
#include "plan/rope_angles.h"

namespace onceover::kernels {

// Cosines and sines of some positions: first .. first + positions - 1, or those listed. Immutable once made,
// safe to share.
class RopeTable {
 public:
  RopeTable(int64_t head_dim, const RopeAngles& angles, int64_t first, int64_t positions);
  // Of these positions, in this order.
  RopeTable(int64_t head_dim, const RopeAngles& angles, std::span<const int64_t> positions);

  int64_t head_dim() const { return head_dim_; }
  int64_t half() const { return half_; }
  int64_t positions() const { return positions_; }
  // [half], for the position at `index`.
  const float* cos(int64_t index) const { return cos_.data() + index * half_; }
  const float* sin(int64_t index) const { return sin_.data() + index * half_; }

 private:
  int64_t head_dim_, half_, positions_;
  std::vector<float> cos_, sin_;
};

// Row r stands at entry index[r] of the table or, where index is null, at entry r % table.positions().
struct RopeShape {
  int64_t rows, heads;
  const int32_t* index = nullptr;
};

// y = the turned x, [rows, heads * head_dim]. y may be x.
void rope_forward(const RopeShape&, const RopeTable&, Input x, Output y);

// dx += dy turned back. dx is not dy.
void rope_backward(const RopeShape&, const RopeTable&, Input dy, Output dx);

// x turned back in place: the gradient, where the forward pass worked in place.
void rope_inverse(const RopeShape&, const RopeTable&, Output x);

}  // namespace onceover::kernels
