#include "cpu/fma_peak.h"

#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <ctime>

namespace onceover::cpu {
namespace {

typedef float v8 __attribute__((vector_size(32)));

constexpr int64_t rounds = 4000000;
constexpr int chains = 12;  // enough to hide the latency of an FMA

inline __attribute__((always_inline)) float multiply_add_chains(float seed) {
  v8 x[chains], factor, term, sum{};
  for (int i = 0; i < 8; ++i) {
    factor[i] = 0.999F + seed;
    term[i] = 0.001F;
  }
  for (int i = 0; i < chains; ++i)
    x[i] = term * (seed + static_cast<float>(i));  // all different: equal ones would be merged
  for (int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (v8& chain : x) chain = chain * factor + term;
  }
  for (const v8& chain : x) sum += chain;
  return sum[0];
}

float chains_portable(float seed) { return multiply_add_chains(seed); }

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) float chains_avx2(float seed) { return multiply_add_chains(seed); }

bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
#else
float chains_avx2(float seed) { return chains_portable(seed); }

bool has_avx2() { return false; }
#endif

}  // namespace

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double fma_peak(int threads) {
  const auto work = has_avx2() ? chains_avx2 : chains_portable;
  float sink = 0;
  double best = 1e30;
  for (int i = 0; i < 3; ++i) {
    const double start = processor_seconds();
#pragma omp parallel num_threads(threads) reduction(+ : sink)
    sink += work(static_cast<float>(omp_get_thread_num()) * 1e-9F);
    best = std::min(best, processor_seconds() - start);
  }
  volatile float kept = sink;
  static_cast<void>(kept);
  return 2.0 * 8 * chains * rounds * threads / best;
}

}  // namespace onceover::cpu
