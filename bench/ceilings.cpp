#include "bench/ceilings.h"

#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <vector>

#include "cpu/kernels/leaves.h"

namespace onceover::bench {
namespace {

typedef float v8 __attribute__((vector_size(32)));

constexpr int64_t fma_rounds = 4000000;
constexpr int chains = 12;  // enough to hide the latency of an FMA

#if defined(__x86_64__)
__attribute__((target("avx2,fma")))
#endif
float
multiply_add_chains(float seed) {
  v8 x[chains], factor, term, sum{};
  for (int i = 0; i < 8; ++i) {
    factor[i] = 0.999F + seed;
    term[i] = 0.001F;
  }
  for (int i = 0; i < chains; ++i)
    x[i] = term * (seed + static_cast<float>(i));  // all different: equal ones would be merged
  for (int64_t round = 0; round < fma_rounds; ++round) {
#pragma GCC unroll 12
    for (v8& chain : x) chain = chain * factor + term;
  }
  for (const v8& chain : x) sum += chain;
  return sum[0];
}

// The fastest of `tries` runs of `work`: what the machine can do, not what its other users left.
template <class F>
double best_seconds(int tries, F work) {
  double best = 1e30;
  for (int i = 0; i < tries; ++i) {
    const double start = cpu_seconds();
    work();
    best = std::min(best, cpu_seconds() - start);
  }
  return best;
}

}  // namespace

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double fma_peak(int threads) {
  float sink = 0;
  const double time = best_seconds(3, [&] {
#pragma omp parallel num_threads(threads) reduction(+ : sink)
    sink += multiply_add_chains(static_cast<float>(omp_get_thread_num()) * 1e-9F);
  });
  volatile float kept = sink;
  (void)kept;
  return 2.0 * 8 * chains * fma_rounds * threads / time;
}

double read_bandwidth(int threads) {
  static const std::vector<float> memory(64 << 20, 1.0F);
  const int64_t part = static_cast<int64_t>(memory.size()) / threads;
  double sink = 0;
  const double time = best_seconds(3, [&] {
#pragma omp parallel num_threads(threads) reduction(+ : sink)
    sink += kernels::leaves().sum_squares(part, memory.data() + part * omp_get_thread_num());
  });
  volatile double kept = sink;
  (void)kept;
  return static_cast<double>(part * threads) * sizeof(float) / time;
}

}  // namespace onceover::bench
