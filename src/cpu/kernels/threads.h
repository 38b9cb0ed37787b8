// How kernels share work between threads. Every reduction runs in an order fixed by the shapes and the thread
// count alone, so a run repeats bit for bit; no float is ever updated atomically.
#pragma once
#include <omp.h>

#include <algorithm>
#include <cstdint>

#include "cpu/kernels/buffer.h"

namespace onceover::kernels {

// Threads worth waking for `operations` scalar operations in `items` independent pieces: one below 2^19
// operations and inside another parallel region. A region costs microseconds on an idle machine, and on a
// busy one the wait until the slower thread gets a core.
inline int threads_for(double operations, int64_t items) {
  if (operations < 524288 || items < 2 || omp_in_parallel()) return 1;
  return static_cast<int>(std::min<int64_t>(omp_get_max_threads(), items));
}

// Scratch of every thread of a parallel region, taken before it: memory that runs out inside would end the
// program.
class ThreadScratch {
 public:
  ThreadScratch(int threads, int64_t floats) : floats_(whole_lines(floats)), buffer_(threads * floats_) {}

  float* mine() const { return buffer_.data() + omp_get_thread_num() * floats_; }

 private:
  int64_t floats_;
  Buffer buffer_;
};

// Rows summed together before partial sums meet: reductions over rows go block by block, whatever the thread
// count.
constexpr int64_t reduction_rows = 64;

inline int64_t reduction_blocks(int64_t rows) { return (rows + reduction_rows - 1) / reduction_rows; }

}  // namespace onceover::kernels
