#include "cpu/kernels/retention.h"

#include "cpu/kernels/buffer.h"
#include "cpu/kernels/leaves.h"
#include "cpu/kernels/threads.h"

namespace onceover::kernels {
namespace {

double state_operations(const RetainShape& s) {
  return static_cast<double>(s.sequences * s.rows * s.heads) * static_cast<double>(s.head_dim * s.v_head_dim);
}

}  // namespace

void retain_forward(const RetainShape& s, Input q, Input k, Input v, Input decay, Output y, float* state) {
  const RetainForwardCall call{s, q, k, v, decay, y, state};
  const Leaves& leaf = leaves();
  const int64_t items = s.sequences * s.heads, scratch_floats = leaf.retain_forward_scratch(s);
  const int threads = threads_for(4 * state_operations(s), items);
  const ThreadScratch scratch(threads, scratch_floats);
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
#pragma omp for schedule(dynamic, 1)
    for (int64_t item = 0; item < items; ++item) {
      leaf.retain_forward(call, item / s.heads, item % s.heads, scratch.mine());
    }
  }
}

void retain_step(const RetainShape& s, Input q, Input k, Input v, Input decay, Output y, float* state) {
  const RetainForwardCall call{s, q, k, v, decay, y, state};
  const Leaves& leaf = leaves();
  const int64_t items = s.sequences * s.heads;
  const int threads = threads_for(4 * state_operations(s), items);
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
  for (int64_t item = 0; item < items; ++item) leaf.retain_step(call, item / s.heads, item % s.heads);
}

void retain_backward(const RetainShape& s, Input q, Input k, Input v, Input decay, Input dy, Output dq,
                     Output dk, Output dv, Output ddecay) {
  const RetainBackwardCall call{s, q, k, v, decay, dy, dq, dk, dv, ddecay};
  const Leaves& leaf = leaves();
  const int64_t items = s.sequences * s.heads, scratch_floats = leaf.retain_backward_scratch(s);
  const int threads = threads_for(10 * state_operations(s), items);
  const ThreadScratch scratch(threads, scratch_floats);
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
#pragma omp for schedule(dynamic, 1)
    for (int64_t item = 0; item < items; ++item) {
      leaf.retain_backward(call, item / s.heads, item % s.heads, scratch.mine());
    }
  }
}

}  // namespace onceover::kernels
