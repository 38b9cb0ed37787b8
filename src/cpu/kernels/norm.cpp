#include "cpu/kernels/norm.h"

#include <algorithm>

#include "cpu/kernels/buffer.h"
#include "cpu/kernels/leaves.h"
#include "cpu/kernels/threads.h"

namespace onceover::kernels {
namespace {

void backward_row(const Leaves& leaf, const NormShape& s, const float* x, const float* weight,
                  const float* dy, float* dx, float* dweight) {
  const int64_t n = s.width / s.groups;
  for (int64_t j = 0; j < s.width; j += n) {
    leaf.norm_backward(n, x + j, weight ? weight + j : nullptr, s.eps, dy + j, dx + j,
                       dweight ? dweight + j : nullptr);
  }
}

}  // namespace

void norm_forward(const NormShape& s, Input x, const float* weight, Output y) {
  const Leaves& leaf = leaves();
  const int64_t n = s.width / s.groups;
  const int threads = threads_for(3.0 * static_cast<double>(s.rows * s.width), s.rows);
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
  for (int64_t row = 0; row < s.rows; ++row) {
    for (int64_t j = 0; j < s.width; j += n) {
      leaf.norm_forward(n, x[row] + j, weight ? weight + j : nullptr, s.eps, y[row] + j);
    }
  }
}

void norm_backward(const NormShape& s, Input x, const float* weight, Input dy, Output dx, float* dweight) {
  const Leaves& leaf = leaves();
  const int64_t blocks = reduction_blocks(s.rows);
  Buffer partial(dweight ? blocks * s.width : 0);
  const int threads = threads_for(8.0 * static_cast<double>(s.rows * s.width), blocks);
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
  for (int64_t block = 0; block < blocks; ++block) {
    float* sums = dweight ? partial.data() + block * s.width : nullptr;
    if (sums) std::fill_n(sums, s.width, 0.0F);
    const int64_t end = std::min(s.rows, (block + 1) * reduction_rows);
    for (int64_t row = block * reduction_rows; row < end; ++row) {
      backward_row(leaf, s, x[row], weight, dy[row], dx[row], sums);
    }
  }
  for (int64_t block = 0; dweight && block < blocks; ++block) {
    leaf.add_scaled(s.width, 1, partial.data() + block * s.width, dweight);
  }
}

}  // namespace onceover::kernels
