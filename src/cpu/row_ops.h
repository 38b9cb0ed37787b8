// The ops that treat every row alone, forward: one place for training and inference.
#pragma once
#include <array>
#include <span>
#include <vector>

#include "cpu/kernels/experts.h"
#include "cpu/kernels/norm.h"
#include "cpu/kernels/packed_matrix.h"
#include "cpu/kernels/view.h"
#include "cpu/memory.h"
#include "plan/plan.h"

namespace onceover::cpu {

// Where a plan's weights lie. Does not own them.
struct WeightTable {
  const std::vector<WeightSpec>* specs;
  std::vector<const float*> data;  // by WeightId; null where packed
  // By WeightId, or empty: the matrices of inference. Of a stack of experts the first, the others behind it.
  std::vector<kernels::PackedMatrix> packed = {};

  kernels::Input matrix(WeightId id) const { return {data[id], (*specs)[id].shape.back()}; }
  const kernels::PackedMatrix* find_packed(WeightId id) const {
    return packed.empty() || packed[id].data == nullptr ? nullptr : &packed[id];
  }
};

// y [rows, outputs] = x [rows, inputs] Wᵀ for a weight of two axes.
void multiply(const WeightTable& weights, WeightId id, int64_t rows, kernels::Input x, kernels::Output y);

// One step over some rows. Inputs and output start at the same row.
struct RowWork {
  int64_t rows, width;
  std::array<int64_t, max_inputs> in_width{};
  std::array<kernels::Input, max_inputs> in{};
  kernels::Output out{};
  const int32_t* tokens = nullptr;       // [rows], read by Embed
  const int64_t* positions = nullptr;    // [rows], read by Embed by row
  kernels::ExpertsTape* tape = nullptr;  // written by Experts
};

// Makes the rows; false when the op is not one of these (it mixes rows, needs positions, or is the head).
bool forward_rows(const Op& op, const RowWork& work, const WeightTable& weights);

kernels::NormShape norm_shape(const Norm& op, int64_t rows, int64_t width);
kernels::ExpertsShape experts_shape(const Experts& op, int64_t rows, const WeightTable& weights);
kernels::ExpertsWeights experts_weights(const Experts& op, const WeightTable& weights);

}  // namespace onceover::cpu
