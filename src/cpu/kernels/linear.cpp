#include "cpu/kernels/linear.h"

#include <algorithm>

#include "cpu/kernels/gemm.h"
#include "cpu/kernels/leaves.h"
#include "cpu/kernels/threads.h"

namespace onceover::kernels {
namespace {

constexpr int64_t few_rows = 8;
constexpr int64_t outputs_at_once = 64;

void linear_few_rows(const LinearShape& s, Input x, Input weight, Output y) {
  const Leaves& leaf = leaves();
  const int64_t items = (s.outputs + outputs_at_once - 1) / outputs_at_once;
  const int threads =
      threads_for(static_cast<double>(s.rows * s.inputs) * static_cast<double>(s.outputs), items);
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
  for (int64_t item = 0; item < items; ++item) {
    const int64_t first = item * outputs_at_once;
    leaf.linear_few(s.rows, std::min(outputs_at_once, s.outputs - first), s.inputs, x,
                    {weight[first], weight.stride}, y.columns(first));
  }
}

}  // namespace

void linear_forward(const LinearShape& s, Input x, Input weight, Output y) {
  if (s.rows <= few_rows) return linear_few_rows(s, x, weight, y);
  gemm(s.rows, s.outputs, s.inputs, Side::Plain, x, Side::Transposed, weight, 0, y);
}

void linear_backward_input(const LinearShape& s, Input dy, Input weight, Output dx) {
  gemm(s.rows, s.inputs, s.outputs, Side::Plain, dy, Side::Plain, weight, 1, dx);
}

void linear_backward_weight(const LinearShape& s, Input dy, Input x, Output dweight) {
  gemm(s.outputs, s.inputs, s.rows, Side::Transposed, dy, Side::Plain, x, 1, dweight);
}

}  // namespace onceover::kernels
