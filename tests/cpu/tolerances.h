// How far the CPU's logits may be from the oracle's: the one table of it. docs/performance.md#tolerances
// shows it, and tolerances_test.cpp holds the two together.
#pragma once
#include "cpu/inference_weights.h"
#include "cpu/kernels/page.h"
#include "support/oracle.h"

namespace onceover::cpu {

using test::Tolerance;

// Weights in f32. A rounded key may send a row to another expert, so plans with experts are compared with
// keys and values in f32 alone.
struct KvTolerance {
  KvType type;
  const char* name;
  Tolerance logits;
};
constexpr KvTolerance kv_tolerances[] = {{KvType::F32, "f32", test::in_single_precision},
                                         {KvType::F16, "f16", {2e-2, 1 << 10}},
                                         {KvType::Q8, "q8", {0.5, 1 << 14}}};

// Keys and values in f32, the oracle on the numbers that the packed weights stand for: what is left is the
// rounding of activations, relative to the largest of 32. In q8 and q4 such a rounding, too, may send a row
// to another expert: plans with experts are compared in the other formats.
struct WeightTolerance {
  WeightFormat format;
  double rounding;

  Tolerance logits() const { return {40 * rounding, 4 * rounding / 6e-8}; }
};
constexpr WeightTolerance weight_tolerances[] = {{WeightFormat::F32, 1.2e-7},
                                                 {WeightFormat::BF16, 1.2e-7},
                                                 {WeightFormat::F16, 1.2e-7},
                                                 {WeightFormat::Q8, 4e-3},
                                                 {WeightFormat::Q4, 4e-3}};

}  // namespace onceover::cpu
