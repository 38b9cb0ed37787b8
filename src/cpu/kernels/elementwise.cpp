#include "cpu/kernels/elementwise.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "cpu/kernels/buffer.h"
#include "cpu/kernels/leaves.h"
#include "cpu/kernels/threads.h"

namespace onceover::kernels {
namespace {

// f(row) for every row. `cost` is scalar operations an element.
template <class F>
void for_rows(const ElementShape& s, double cost, F f) {
  const int threads = threads_for(cost * static_cast<double>(s.rows * s.width), s.rows);
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
  for (int64_t row = 0; row < s.rows; ++row) f(row);
}

// y = x gate(x) with gate between 0 and 1, and the gate's slope. The library's erf and tanh: beside the
// matrices of a feed-forward they are little.
struct Gate {
  float value, slope;
};

Gate gelu_gate(float x) {
  constexpr float root_half = 1 / std::numbers::sqrt2_v<float>;
  constexpr float density = root_half * std::numbers::inv_sqrtpi_v<float>;  // of the normal distribution at 0
  return {0.5F * (1 + std::erf(x * root_half)), density * std::exp(-0.5F * x * x)};
}

Gate gelu_tanh_gate(float x) {
  constexpr float root = std::numbers::sqrt2_v<float> * std::numbers::inv_sqrtpi_v<float>, cubic = 0.044715F;
  const float t = std::tanh(root * (x + cubic * x * x * x));
  return {0.5F * (1 + t), 0.5F * (1 - t * t) * root * (1 + 3 * cubic * x * x)};
}

}  // namespace

void swiglu_forward(const ElementShape& s, Input gate, Input up, Output y) {
  const Leaves& leaf = leaves();
  for_rows(s, 8, [&](int64_t row) { leaf.swiglu_forward(s.width, gate[row], up[row], y[row]); });
}

void swiglu_backward(const ElementShape& s, Input gate, Input up, Input dy, Output dgate, Output dup) {
  const Leaves& leaf = leaves();
  for_rows(s, 12, [&](int64_t row) {
    leaf.swiglu_backward(s.width, gate[row], up[row], dy[row], dgate[row], dup[row]);
  });
}

void gelu_forward(const ElementShape& s, bool tanh_form, Input x, Output y) {
  const auto gate = tanh_form ? gelu_tanh_gate : gelu_gate;
  for_rows(s, 40, [&](int64_t row) {
    const float* from = x[row];
    float* to = y[row];
    for (int64_t j = 0; j < s.width; ++j) to[j] = from[j] * gate(from[j]).value;
  });
}

void gelu_backward(const ElementShape& s, bool tanh_form, Input x, Input dy, Output dx) {
  const auto gate = tanh_form ? gelu_tanh_gate : gelu_gate;
  for_rows(s, 60, [&](int64_t row) {
    const float *from = x[row], *gradient = dy[row];
    float* to = dx[row];
    for (int64_t j = 0; j < s.width; ++j) {
      const Gate g = gate(from[j]);
      to[j] += gradient[j] * (g.value + from[j] * g.slope);
    }
  });
}

void add_bias(const ElementShape& s, const float* bias, Output y) {
  const Leaves& leaf = leaves();
  for_rows(s, 1, [&](int64_t row) { leaf.add_scaled(s.width, 1, bias, y[row]); });
}

void bias_backward(const ElementShape& s, Input dy, float* dbias) {
  const Leaves& leaf = leaves();
  const int64_t blocks = reduction_blocks(s.rows);
  Buffer partial(blocks * s.width);
  const int threads = threads_for(static_cast<double>(s.rows * s.width), blocks);
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
  for (int64_t block = 0; block < blocks; ++block) {
    float* sums = partial.data() + block * s.width;
    std::fill_n(sums, s.width, 0.0F);
    const int64_t end = std::min(s.rows, (block + 1) * reduction_rows);
    for (int64_t row = block * reduction_rows; row < end; ++row) leaf.add_scaled(s.width, 1, dy[row], sums);
  }
  for (int64_t block = 0; block < blocks; ++block)
    leaf.add_scaled(s.width, 1, partial.data() + block * s.width, dbias);
}

void add_forward(const ElementShape& s, Input a, Input b, Output y) {
  for_rows(s, 1, [&](int64_t row) {
    const float *from_a = a[row], *from_b = b[row];
    float* to = y[row];
    for (int64_t j = 0; j < s.width; ++j) to[j] = from_a[j] + from_b[j];
  });
}

void accumulate(const ElementShape& s, Input dy, Output dx) {
  const Leaves& leaf = leaves();
  for_rows(s, 1, [&](int64_t row) { leaf.add_scaled(s.width, 1, dy[row], dx[row]); });
}

void mix_forward(const ElementShape& s, float scale, const float* weight, Input a, Input b, Output y) {
  const float of_a = scale * weight[0], of_b = scale * weight[1];
  for_rows(s, 2, [&](int64_t row) {
    const float *from_a = a[row], *from_b = b[row];
    float* to = y[row];
    for (int64_t j = 0; j < s.width; ++j) to[j] = of_a * from_a[j] + of_b * from_b[j];
  });
}

void mix_backward(const ElementShape& s, float scale, const float* weight, Input a, Input b, Input dy,
                  Output da, Output db, float* dweight) {
  const Leaves& leaf = leaves();
  std::vector<double> along_a(static_cast<size_t>(s.rows)), along_b(along_a.size());
  for_rows(s, 6, [&](int64_t row) {
    along_a[static_cast<size_t>(row)] = leaf.dot(s.width, dy[row], a[row]);
    along_b[static_cast<size_t>(row)] = leaf.dot(s.width, dy[row], b[row]);
    leaf.add_scaled(s.width, scale * weight[0], dy[row], da[row]);
    leaf.add_scaled(s.width, scale * weight[1], dy[row], db[row]);
  });
  double sum_a = 0, sum_b = 0;
  for (const double x : along_a) sum_a += x;
  for (const double x : along_b) sum_b += x;
  dweight[0] += static_cast<float>(scale * sum_a);
  dweight[1] += static_cast<float>(scale * sum_b);
}

void zero(const ElementShape& s, Output x) {
  for_rows(s, 1, [&](int64_t row) { std::fill_n(x[row], s.width, 0.0F); });
}

}  // namespace onceover::kernels
