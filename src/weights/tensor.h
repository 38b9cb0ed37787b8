// A tensor that lives elsewhere: in a mapped file or in a caller's buffer.
//
// Row-major, little-endian. `bytes` may have any alignment, so read elements through convert(). The product
// of the shape times the element size equals bytes.size(); a shape of no axes is one scalar; an extent of 0
// means no bytes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "weights/dtype.h"

namespace onceover {

struct TensorView {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::span<const std::byte> bytes;

  size_t elements() const { return bytes.size() / dtype_size(dtype); }
};

using TensorMap = std::map<std::string, TensorView, std::less<>>;

// Bytes that a tensor takes; nothing when the number (without its factors 0) does not fit an int64_t. Extents
// >= 0.
std::optional<uint64_t> tensor_bytes(const std::vector<int64_t>& shape, DType dtype);

// A view of f32 numbers in memory. `values` must outlive it and hold the product of `shape` elements
// (std::logic_error).
TensorView view_of(std::span<const float> values, std::vector<int64_t> shape);

// Elements [first, first + out.size()) as numbers; out of range is std::logic_error. Any dtype; 64-bit values
// round.
void convert(const TensorView& tensor, size_t first, std::span<float> out);
void convert(const TensorView& tensor, size_t first, std::span<double> out);

// All elements.
std::vector<float> to_f32(const TensorView& tensor);
std::vector<double> to_f64(const TensorView& tensor);

// The bytes of `values` as a float dtype of at least 16 bits (std::logic_error for another).
std::vector<std::byte> encode(std::span<const float> values, DType dtype);

}  // namespace onceover
