#include "cpu/kernels/attention.h"

#include <cassert>

#include "cpu/kernels/buffer.h"
#include "cpu/kernels/leaves.h"
#include "cpu/kernels/threads.h"

namespace onceover::kernels {
namespace {

// Query rows, of all heads of a group, that share one transposed copy of the keys: the more, the less
// copying, as long as they and their accumulators stay in the L2 cache.
constexpr int64_t block_rows = 384;

// The rows of a block: equal blocks, whole register tiles.
int64_t rows_of_block(const AttendShape& s) {
  const int64_t blocks = std::max<int64_t>(1, (s.q_rows * s.group() + block_rows - 1) / block_rows);
  return std::max<int64_t>(1, (s.q_rows + blocks * 6 - 1) / (blocks * 6)) * 6;
}

// Multiplications of the scores of one query head, all sequences.
double score_operations(const AttendShape& s) {
  const double keys = s.window > 0 ? std::min<int64_t>(s.window, s.k_rows) : s.k_rows;
  return static_cast<double>(s.sequences * s.q_rows) * keys * static_cast<double>(s.head_dim);
}

}  // namespace

void attend_forward(const AttendShape& s, Input q, Input k, Input v, Output y, float* log_sum_exp) {
  assert(s.kv_heads > 0 && s.heads % s.kv_heads == 0);
  const AttendForwardCall call{s, q, k, v, y, log_sum_exp};
  const Leaves& leaf = leaves();
  const int64_t rows = rows_of_block(s);
  const int64_t blocks = s.q_rows > 0 ? (s.q_rows + rows - 1) / rows : 0;
  const int64_t heads = s.sequences * s.kv_heads, items = heads * blocks;
  const int64_t scratch_floats = leaf.attend_forward_scratch(s, rows);
  const int threads = threads_for(2 * score_operations(s) * static_cast<double>(s.heads), items);
  const ThreadScratch scratch(threads, scratch_floats);
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
#pragma omp for schedule(dynamic, 1)
    for (int64_t item = 0; item < items; ++item) {
      // The last rows see the most keys: they go first, so that no thread is left with a long one.
      const int64_t first = (blocks - 1 - item / heads) * rows, head = item % heads;
      leaf.attend_forward(call, head / s.kv_heads, head % s.kv_heads, first, std::min(first + rows, s.q_rows),
                          scratch.mine());
    }
  }
}

void attend_backward(const AttendShape& s, Input q, Input k, Input v, Input y, const float* log_sum_exp,
                     Input dy, Output dq, Output dk, Output dv) {
  assert(s.kv_heads > 0 && s.heads % s.kv_heads == 0);
  const AttendBackwardCall call{s, q, k, v, y, log_sum_exp, dy, dq, dk, dv};
  const Leaves& leaf = leaves();
  const int64_t items = s.sequences * s.kv_heads;
  const int64_t scratch_floats = leaf.attend_backward_scratch(s);
  const int threads = threads_for(5 * score_operations(s) * static_cast<double>(s.heads), items);
  const ThreadScratch scratch(threads, scratch_floats);
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
#pragma omp for schedule(dynamic, 1)
    for (int64_t item = 0; item < items; ++item) {
      leaf.attend_backward(call, item / s.kv_heads, item % s.kv_heads, scratch.mine());
    }
  }
}

}  // namespace onceover::kernels
