#include "cpu/kernels/elementwise.h"

#include <algorithm>
#include <vector>

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
