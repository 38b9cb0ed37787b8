#include "cpu/kernels/embedding.h"

#include <algorithm>

#include "cpu/kernels/leaves.h"
#include "cpu/kernels/threads.h"

namespace onceover::kernels {
namespace {

constexpr int64_t columns_at_once = 64;

}  // namespace

void embed_forward(const EmbedShape& s, const int32_t* tokens, Input table, Output y) {
  const int threads = threads_for(static_cast<double>(s.rows * s.width), s.rows);
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
  for (int64_t row = 0; row < s.rows; ++row) {
    const float* from = table[tokens[row]];
    float* to = y[row];
    for (int64_t j = 0; j < s.width; ++j) to[j] = s.scale * from[j];
  }
}

void embed_backward(const EmbedShape& s, const int32_t* tokens, Input dy, Output dtable) {
  const Leaves& leaf = leaves();
  const int64_t items = (s.width + columns_at_once - 1) / columns_at_once;
  const int threads = threads_for(static_cast<double>(s.rows * s.width), items);
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
  for (int64_t item = 0; item < items; ++item) {
    const int64_t first = item * columns_at_once, columns = std::min(columns_at_once, s.width - first);
    for (int64_t row = 0; row < s.rows; ++row) {
      leaf.add_scaled(columns, s.scale, dy[row] + first, dtable[tokens[row]] + first);
    }
  }
}

}  // namespace onceover::kernels
