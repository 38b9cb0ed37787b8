#include "cpu/kernels/cross_entropy.h"

#include <algorithm>
#include <vector>

#include "cpu/kernels/buffer.h"
#include "cpu/kernels/leaves.h"
#include "cpu/kernels/linear.h"
#include "cpu/kernels/threads.h"

namespace onceover::kernels {
namespace {

constexpr int64_t chunk_floats = 8 << 20;
constexpr int64_t most_chunk_rows = 512;

bool is_largest(int64_t vocabulary, int32_t target, const float* logits) {
  const float wanted = logits[target];
  return std::count_if(logits, logits + vocabulary, [=](float logit) { return logit >= wanted; }) == 1;
}

// Loss of one row; its logits become factor * (softmax - one at the target), zero where masked.
double row_loss(const Leaves& leaf, int64_t vocabulary, int32_t target, float factor, float* logits) {
  if (target < 0) {
    if (factor != 0) std::fill_n(logits, vocabulary, 0.0F);
    return 0;
  }
  const double log_total = leaf.log_sum_exp(vocabulary, logits), loss = log_total - logits[target];
  if (factor != 0) {
    leaf.exp_shifted(vocabulary, static_cast<float>(log_total), factor, logits);
    logits[target] -= factor;
  }
  return loss;
}

void losses_of(int64_t rows, int64_t vocabulary, const int32_t* targets, float factor, Output logits,
               double* losses) {
  const Leaves& leaf = leaves();
  const int threads = threads_for(8.0 * static_cast<double>(rows * vocabulary), rows);
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
  for (int64_t row = 0; row < rows; ++row) {
    losses[row] = row_loss(leaf, vocabulary, targets[row], factor, logits[row]);
  }
}

int64_t correct_rows(int64_t rows, int64_t vocabulary, const int32_t* targets, Output logits) {
  int64_t correct = 0;
  for (int64_t row = 0; row < rows; ++row) {
    correct += targets[row] >= 0 && is_largest(vocabulary, targets[row], logits[row]);
  }
  return correct;
}

// factor 0 asks for no gradient.
TargetLoss run(const CrossEntropyShape& s, Input x, Input weight, const int32_t* targets, float factor,
               Output dx, Output dweight, float* token_loss) {
  const int64_t chunk =
      std::clamp<int64_t>(chunk_floats / s.vocabulary, 1, std::min(most_chunk_rows, s.rows + 1));
  Buffer buffer(chunk * s.vocabulary);
  const Output logits{buffer.data(), s.vocabulary};
  std::vector<double> losses(static_cast<size_t>(chunk));
  TargetLoss sum;
  for (int64_t first = 0; first < s.rows; first += chunk) {
    const int64_t rows = std::min(chunk, s.rows - first);
    const int32_t* wanted = targets + first;
    const int64_t found = std::count_if(wanted, wanted + rows, [](int32_t target) { return target >= 0; });
    if (token_loss) std::fill_n(token_loss + first, rows, 0.0F);
    if (found == 0) continue;
    const LinearShape linear{rows, s.width, s.vocabulary};
    const Input here{x[first], x.stride};
    linear_forward(linear, here, weight, logits);
    losses_of(rows, s.vocabulary, wanted, factor, logits, losses.data());
    for (int64_t row = 0; row < rows; ++row) {
      sum.loss += losses[static_cast<size_t>(row)];
      if (token_loss) token_loss[first + row] = static_cast<float>(losses[static_cast<size_t>(row)]);
    }
    sum.targets += found;
    if (factor == 0) {
      sum.correct += correct_rows(rows, s.vocabulary, wanted, logits);
      continue;
    }
    linear_backward_input(linear, logits, weight, {dx[first], dx.stride});
    linear_backward_weight(linear, logits, here, dweight);
  }
  return sum;
}

}  // namespace

TargetLoss cross_entropy(const CrossEntropyShape& s, Input x, Input weight, const int32_t* targets,
                         float* token_loss) {
  return run(s, x, weight, targets, 0, {}, {}, token_loss);
}

TargetLoss cross_entropy_gradient(const CrossEntropyShape& s, Input x, Input weight, const int32_t* targets,
                                  float factor, Output dx, Output dweight, float* token_loss) {
  return run(s, x, weight, targets, factor, dx, dweight, token_loss);
}

}  // namespace onceover::kernels
