#include "cpu/kernels/rope.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cpu/kernels/leaves.h"
#include "cpu/kernels/threads.h"

namespace onceover::kernels {
namespace {

void rotate_rows(const RopeShape& s, const RopeTable& table, float direction, Input x, Output y, bool add) {
  const Leaves& leaf = leaves();
  const int64_t half = table.half(), head_dim = table.head_dim(), still = head_dim - 2 * half;
  const int threads = threads_for(3.0 * static_cast<double>(s.rows * s.heads * head_dim), s.rows);
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
  for (int64_t row = 0; row < s.rows; ++row) {
    const int64_t at = s.index ? s.index[row] : row % table.positions();
    for (int64_t head = 0; head < s.heads; ++head) {
      const float* from = x[row] + head * head_dim;
      float* to = y[row] + head * head_dim;
      leaf.rotate(half, table.cos(at), table.sin(at), direction, from, to, add);
      if (add)
        leaf.add_scaled(still, 1, from + 2 * half, to + 2 * half);
      else if (from != to)
        std::copy_n(from + 2 * half, still, to + 2 * half);
    }
  }
}

std::vector<int64_t> consecutive(int64_t first, int64_t count) {
  std::vector<int64_t> positions(static_cast<size_t>(count));
  std::iota(positions.begin(), positions.end(), first);
  return positions;
}

}  // namespace

RopeTable::RopeTable(int64_t head_dim, const RopeAngles& angles, int64_t first, int64_t positions)
    : RopeTable(head_dim, angles, consecutive(first, positions)) {}

RopeTable::RopeTable(int64_t head_dim, const RopeAngles& angles, std::span<const int64_t> positions)
    : head_dim_(head_dim), half_(angles.turned_dims(head_dim) / 2), positions_(std::ssize(positions)) {
  const std::vector<double> frequencies = rope_frequencies(angles, head_dim);
  const double magnitude = rope_magnitude(angles);
  cos_.resize(static_cast<size_t>(half_ * positions_));
  sin_.resize(cos_.size());
  for (int64_t j = 0; j < half_; ++j) {
    for (int64_t p = 0; p < positions_; ++p) {
      const double angle =
          static_cast<double>(positions[static_cast<size_t>(p)]) * frequencies[static_cast<size_t>(j)];
      cos_[static_cast<size_t>(p * half_ + j)] = static_cast<float>(magnitude * std::cos(angle));
      sin_[static_cast<size_t>(p * half_ + j)] = static_cast<float>(magnitude * std::sin(angle));
    }
  }
}

void rope_forward(const RopeShape& s, const RopeTable& table, Input x, Output y) {
  rotate_rows(s, table, 1, x, y, false);
}

void rope_backward(const RopeShape& s, const RopeTable& table, Input dy, Output dx) {
  rotate_rows(s, table, -1, dy, dx, true);
}

void rope_inverse(const RopeShape& s, const RopeTable& table, Output x) {
  rotate_rows(s, table, -1, x, x, false);
}

}  // namespace onceover::kernels
