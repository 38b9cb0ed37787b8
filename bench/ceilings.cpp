#include "bench/ceilings.h"

#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cpu/fma_peak.h"
#include "cpu/kernels/leaves.h"

namespace onceover::bench {

double read_bandwidth(int threads) {
  static const std::vector<float> memory(64 << 20, 1.0F);
  const int64_t part = static_cast<int64_t>(memory.size()) / threads;
  double sink = 0, best = 1e30;
  for (int i = 0; i < 3; ++i) {
    const double start = cpu::processor_seconds();
#pragma omp parallel num_threads(threads) reduction(+ : sink)
    sink += kernels::leaves().sum_squares(part, memory.data() + part * omp_get_thread_num());
    best = std::min(best, cpu::processor_seconds() - start);
  }
  volatile double kept = sink;
  static_cast<void>(kept);
  return static_cast<double>(part * threads) * sizeof(float) / best;
}

}  // namespace onceover::bench
