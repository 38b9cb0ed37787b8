// The ops that make a row from the same row of their inputs: what training and inference share.
#pragma once
#include <array>

#include "torch/ops.h"
#include "torch/weights.h"

namespace onceover::torch_executor {

struct RowInputs {
  Tensor tokens;             // [sequences, rows], read by Embed
  int64_t first;             // position of the first row, read by Embed by row
  std::array<Tensor, 4> in;  // the op's inputs, in order
};

struct RowResult {
  Tensor y;        // undefined when the op is none of these (it mixes rows, needs positions, or is the head)
  Tensor balance;  // of Experts
};

RowResult run_row_op(const Op& op, const RowInputs& inputs, WeightReader& weights);

// The head's product, in f32: [sequences, rows, vocabulary].
Tensor head(const Logits& op, const Tensor& x, WeightReader& weights);

}  // namespace onceover::torch_executor
