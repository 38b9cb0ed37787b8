// The weights of a plan as inference reads them: every matrix packed in a format (kernels/packed_matrix.h),
// all else in f32.
//
// Matrices that the plan marks as not to be quantised, and all where the format is F32, keep f32 numbers.
// Immutable once made; any number of engines on any threads may share one.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cpu/kernels/buffer.h"
#include "cpu/row_ops.h"
#include "weights/tensor.h"

namespace onceover::cpu {

using kernels::WeightFormat;

// "f32", "bf16", "f16", "q8" or "q4"; Error for another name, naming these.
WeightFormat weight_format(std::string_view name);
std::string_view weight_format_name(WeightFormat format);
const std::vector<std::string>& weight_format_names();

// The matrix of a weight of this plan, without its bytes; of a stack of experts, one of them. Nothing for a
// weight that inference reads as it is.
struct PackedShape {
  kernels::PackedMatrix matrix;
  int64_t count;  // of matrices, one behind the other

  int64_t bytes() const { return count * matrix.bytes(); }
};
std::optional<PackedShape> packed_shape(const Plan& plan, WeightId id, WeightFormat format);

class InferenceWeights {
 public:
  // Packs what read(id) gives, [elements of the weight], one weight at a time.
  InferenceWeights(const Plan& plan, WeightFormat format,
                   const std::function<std::vector<float>(WeightId)>& read);
  // Packs these, by WeightId. Error for another number of them.
  InferenceWeights(const Plan& plan, WeightFormat format, const std::vector<std::vector<float>>& weights);
  // Uses what a quantised checkpoint holds (docs/quantised-format.md) in its place. Error naming `where` for
  // a tensor that is missing or of another size. `tensors` point into what `keep` keeps alive.
  InferenceWeights(const Plan& plan, WeightFormat format, const TensorMap& tensors, const std::string& where,
                   std::shared_ptr<const void> keep);
  // Numbers that are good for measuring speed and nothing else: the first panels of a matrix are drawn from
  // its Init, the others repeat them.
  static std::shared_ptr<const InferenceWeights> random(const Plan& plan, WeightFormat format);
  InferenceWeights(const InferenceWeights&) = delete;
  InferenceWeights& operator=(const InferenceWeights&) = delete;

  WeightFormat format() const { return format_; }
  const WeightTable& table() const { return table_; }
  int64_t bytes() const { return bytes_; }
  // As a quantised checkpoint holds them; views into this object.
  TensorMap tensors() const;
  // A hash of every number: other weights or another format have another.
  uint64_t identity() const;

 private:
  InferenceWeights(const Plan& plan, WeightFormat format);  // with storage, unfilled
  std::span<const std::byte> stored(WeightId id) const;
  int64_t bytes_of(WeightId id) const;

  WeightFormat format_;
  std::vector<WeightSpec> specs_;
  std::vector<std::optional<PackedShape>> shapes_;  // by WeightId
  kernels::Buffer arena_;
  std::vector<float*> parts_;  // of the arena, by WeightId
  std::shared_ptr<const void> keep_;
  WeightTable table_{};
  int64_t bytes_ = 0;
};

}  // namespace onceover::cpu
