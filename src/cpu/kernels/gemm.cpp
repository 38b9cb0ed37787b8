#include "cpu/kernels/gemm.h"

#include <oneapi/dnnl/dnnl.h>

#include <algorithm>

#include "base/error.h"

namespace onceover::kernels {

void gemm(int64_t m, int64_t n, int64_t k, Side a_side, Input a, Side b_side, Input b, float keep, Output c) {
  if (m == 0 || n == 0) return;
  const auto letter = [](Side side) { return side == Side::Transposed ? 'T' : 'N'; };
  // A single row may come with any stride; the library wants strides of at least a row.
  const auto stride = [](int64_t given, int64_t columns) { return std::max<int64_t>({given, columns, 1}); };
  const dnnl_status_t status =
      dnnl_sgemm(letter(a_side), letter(b_side), m, n, k, 1.0F, a.data,
                 stride(a.stride, a_side == Side::Transposed ? m : k), b.data,
                 stride(b.stride, b_side == Side::Transposed ? k : n), keep, c.data, stride(c.stride, n));
  if (status != dnnl_success) {
    throw Error("dnnl_sgemm of {} x {} x {}: expected success, found status {}", m, n, k,
                static_cast<int>(status));
  }
}

}  // namespace onceover::kernels
