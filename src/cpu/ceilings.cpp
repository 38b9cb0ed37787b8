#include "cpu/ceilings.h"

#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <ctime>

#include "base/clock.h"
#include "cpu/kernels/buffer.h"
#include "cpu/kernels/leaves.h"

namespace onceover::cpu {

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

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
#else
float chains_avx2(float seed) { return chains_portable(seed); }
#endif

// What all threads do in a second of `clock`, best of three. `share(thread)` does `work` units.
template <class Clock, class Share>
double best_rate(int threads, double work, Clock clock, Share share) {
  double sink = 0, best = 1e30;
  for (int i = 0; i < 3; ++i) {
    const double start = clock();
#pragma omp parallel num_threads(threads) reduction(+ : sink)
    sink += share(omp_get_thread_num());
    best = std::min(best, clock() - start);
  }
  volatile double kept = sink;
  static_cast<void>(kept);
  return work * threads / best;
}

template <class Clock>
double fma_rate(int threads, Clock clock) {
  const auto work = kernels::has_avx2() ? chains_avx2 : chains_portable;
  return best_rate(threads, 2.0 * 8 * chains * rounds, clock,
                   [&](int thread) { return static_cast<double>(work(static_cast<float>(thread) * 1e-9F)); });
}

template <class Clock>
double read_rate(int threads, Clock clock) {
  constexpr int64_t floats = 64 << 20;
  static const kernels::Buffer memory = [] {
    kernels::Buffer filled(floats);
    std::fill_n(filled.data(), floats, 1.0F);
    return filled;
  }();
  const int64_t part = floats / threads;
  return best_rate(threads, static_cast<double>(part) * sizeof(float), clock, [&](int thread) {
    return kernels::leaves().sum_squares(part, memory.data() + part * thread);
  });
}

}  // namespace

double fma_peak(int threads) { return fma_rate(threads, processor_seconds); }

double read_bandwidth(int threads) { return read_rate(threads, processor_seconds); }

Ceilings measure_ceilings(int threads) {
  return {fma_rate(threads, steady_seconds), read_rate(threads, steady_seconds)};
}

}  // namespace onceover::cpu
