#include "cpu/kernels/adamw.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "cpu/kernels/leaves.h"
#include "cpu/kernels/threads.h"

namespace onceover::kernels {
namespace {

constexpr int64_t block_floats = 16384;

// f(block, first, count) for every block of n floats.
template <class F>
void for_blocks(int64_t n, F f) {
  const int64_t blocks = (n + block_floats - 1) / block_floats;
  const int threads = threads_for(8.0 * static_cast<double>(n), blocks);
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
  for (int64_t block = 0; block < blocks; ++block) {
    const int64_t first = block * block_floats;
    f(block, first, std::min(block_floats, n - first));
  }
}

AdamwStep constants(const AdamwSettings& s) {
  const double t = static_cast<double>(s.step);
  return {.gradient_scale = s.gradient_scale,
          .beta1 = s.beta1,
          .beta2 = s.beta2,
          .step_size = static_cast<float>(s.learning_rate / (1 - std::pow(static_cast<double>(s.beta1), t))),
          .root_scale = static_cast<float>(1 / std::sqrt(1 - std::pow(static_cast<double>(s.beta2), t))),
          .epsilon = s.epsilon,
          .keep = static_cast<float>(1 - static_cast<double>(s.learning_rate) * s.weight_decay)};
}

}  // namespace

void adamw(const AdamwSettings& settings, std::span<const float> gradient, std::span<float> weight,
           std::span<float> m, std::span<float> v) {
  const AdamwStep step = constants(settings);
  const Leaves& leaf = leaves();
  for_blocks(static_cast<int64_t>(weight.size()), [&](int64_t, int64_t first, int64_t count) {
    leaf.adamw(count, step, gradient.data() + first, weight.data() + first, m.data() + first,
               v.data() + first);
  });
}

double sum_of_squares(std::span<const float> x) {
  const Leaves& leaf = leaves();
  const int64_t n = static_cast<int64_t>(x.size());
  std::vector<double> sums(static_cast<size_t>((n + block_floats - 1) / block_floats));
  for_blocks(n, [&](int64_t block, int64_t first, int64_t count) {
    sums[static_cast<size_t>(block)] = leaf.sum_squares(count, x.data() + first);
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

}  // namespace onceover::kernels
