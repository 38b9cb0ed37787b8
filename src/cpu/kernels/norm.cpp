#include "cpu/kernels/norm.h"

#include <algorithm>

#include "cpu/kernels/buffer.h"
#include "cpu/kernels/leaves.h"
#include "cpu/kernels/threads.h"

namespace onceover::kernels {
namespace {

double mean(int64_t n, const float* x) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]);
  return sum / static_cast<double>(n);
}

void centre(int64_t n, const float* x, float* y) {
  const auto middle = static_cast<float>(mean(n, x));
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] - middle;
}

// The gradient of a centred part: that of its norm, without its mean. scratch [2 n].
void backward_centred(const Leaves& leaf, const NormShape& s, const float* x, const float* weight,
                      const float* dy, float* dx, float* dweight, float* scratch) {
  const int64_t n = s.part();
  float *centred = scratch, *gradient = scratch + n;
  centre(n, x, centred);
  std::fill_n(gradient, n, 0.0F);
  leaf.norm_backward(n, centred, weight, s.eps, dy, gradient, dweight);
  const auto middle = static_cast<float>(mean(n, gradient));
  for (int64_t i = 0; i < n; ++i) dx[i] += gradient[i] - middle;
}

void backward_row(const Leaves& leaf, const NormShape& s, const float* x, const float* weight,
                  const float* dy, float* dx, float* dweight, float* scratch) {
  const int64_t n = s.part();
  for (int64_t j = 0; j < s.width; j += n) {
    const int64_t at = s.shared ? 0 : j;
    const float* w = weight ? weight + at : nullptr;
    float* dw = dweight ? dweight + at : nullptr;
    if (s.centred)
      backward_centred(leaf, s, x + j, w, dy + j, dx + j, dw, scratch);
    else
      leaf.norm_backward(n, x + j, w, s.eps, dy + j, dx + j, dw);
  }
}

}  // namespace

void norm_forward(const NormShape& s, Input x, const float* weight, Output y) {
  const Leaves& leaf = leaves();
  const int64_t n = s.part();
  const int threads = threads_for(3.0 * static_cast<double>(s.rows * s.width), s.rows);
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
  for (int64_t row = 0; row < s.rows; ++row) {
    for (int64_t j = 0; j < s.width; j += n) {
      const float* from = x[row] + j;
      if (s.centred) {
        centre(n, from, y[row] + j);
        from = y[row] + j;
      }
      leaf.norm_forward(n, from, weight ? weight + (s.shared ? 0 : j) : nullptr, s.eps, y[row] + j);
    }
  }
}

void norm_backward(const NormShape& s, Input x, const float* weight, Input dy, Output dx, float* dweight) {
  const Leaves& leaf = leaves();
  const int64_t blocks = reduction_blocks(s.rows), scratch = s.centred ? 2 * s.part() : 0;
  Buffer partial(dweight ? blocks * s.weights() : 0), centred(blocks * scratch);
  const int threads = threads_for(8.0 * static_cast<double>(s.rows * s.width), blocks);
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
  for (int64_t block = 0; block < blocks; ++block) {
    float* sums = dweight ? partial.data() + block * s.weights() : nullptr;
    if (sums) std::fill_n(sums, s.weights(), 0.0F);
    const int64_t end = std::min(s.rows, (block + 1) * reduction_rows);
    for (int64_t row = block * reduction_rows; row < end; ++row) {
      backward_row(leaf, s, x[row], weight, dy[row], dx[row], sums, centred.data() + block * scratch);
    }
  }
  for (int64_t block = 0; dweight && block < blocks; ++block) {
    leaf.add_scaled(s.weights(), 1, partial.data() + block * s.weights(), dweight);
  }
}

}  // namespace onceover::kernels
