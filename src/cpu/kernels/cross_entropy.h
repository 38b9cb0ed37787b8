// The output layer and its loss in one pass: logits = x Wᵀ, loss = Σ -log softmax(logits)[target].
//
// x [rows, width], weight [vocabulary, width], targets [rows]: a negative target is masked (by position: any
// id, the end token included, can be a target). Logits live for a few hundred rows at a time (at most 32 MiB,
// one row at the least), never for all. The gradients come from the same pass; multiply by factor = 1 /
// (target tokens of the whole optimiser step, over all micro-batches and ranks) and the mean is exact.
// Threads: gemm's, and rows of a chunk. The loss is summed in double in row order.
#pragma once
#include "cpu/kernels/view.h"

namespace onceover::kernels {

struct CrossEntropyShape {
  int64_t rows, width, vocabulary;
};

struct TargetLoss {
  double loss = 0;      // nats, summed over the targets
  int64_t targets = 0;  // rows that have one
  int64_t correct = 0;  // rows whose largest logit is their target's alone; counted by cross_entropy only
};

// The loss alone. token_loss [rows], if not null, receives the loss of each row, 0 where masked.
TargetLoss cross_entropy(const CrossEntropyShape&, Input x, Input weight, const int32_t* targets,
                         float* token_loss);

// The same, and dx += factor * dloss/dx, dweight += factor * dloss/dweight.
TargetLoss cross_entropy_gradient(const CrossEntropyShape&, Input x, Input weight, const int32_t* targets,
                                  float factor, Output dx, Output dweight, float* token_loss);

}  // namespace onceover::kernels
