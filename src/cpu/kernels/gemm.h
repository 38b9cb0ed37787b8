// The matrix product behind which the library sits (oneDNN): nothing else of it is used, nothing else names
// it.
#pragma once
#include "cpu/kernels/view.h"

namespace onceover::kernels {

enum class Side : bool { Plain, Transposed };

// c[m, n] = keep * c + op(a)[m, k] op(b)[k, n], row-major; a is stored [k, m] and b [n, k] where Transposed.
// With keep 0, c may be uninitialised. Uses every OpenMP thread, or one inside a parallel region. Throws
// Error if the library refuses.
void gemm(int64_t m, int64_t n, int64_t k, Side a_side, Input a, Side b_side, Input b, float keep, Output c);

}  // namespace onceover::kernels
