#include "models/stored_weight.h"

#include <algorithm>

#include "base/text.h"
#include "gguf/dequantise.h"

namespace onceover {
namespace {

std::vector<int64_t> stored_shape(const StoredWeight& weight) {
  if (const auto* view = std::get_if<TensorView>(&weight.tensor)) return view->shape;
  return std::get<GgufTensor>(weight.tensor).shape();
}

std::vector<float> stored_numbers(const StoredWeight& weight) {
  if (const auto* view = std::get_if<TensorView>(&weight.tensor)) return to_f32(*view);
  const GgufTensor& tensor = std::get<GgufTensor>(weight.tensor);
  std::vector<float> numbers(static_cast<size_t>(tensor.rows() * tensor.row_elements()));
  dequantise(tensor.type, tensor.bytes, numbers);
  return numbers;
}

// Whether the rows can be cut as asked: whole parts, whole heads.
bool fits(const Cut& cut, const std::vector<int64_t>& shape) {
  if (cut.transposed && shape.size() != 2) return false;
  if (shape.empty()) return cut.parts == 1 && cut.pairs_of == 0;
  const int64_t all = cut.transposed ? shape[1] : shape[0];
  if (all % cut.parts != 0) return false;
  const int64_t rows = all / cut.parts;
  return (cut.head_dim == 0 || rows % cut.head_dim == 0) && (cut.pairs_of == 0 || rows % cut.pairs_of == 0);
}

}  // namespace

int64_t stored_row(const Cut& cut, int64_t row, int64_t rows) {
  if (cut.pairs_of > 0) {
    const int64_t half = cut.pairs_of / 2, first = row / cut.pairs_of * cut.pairs_of, j = row - first;
    row = first + (j < half ? 2 * j : 2 * (j - half) + 1);
  }
  if (cut.head_dim == 0) return cut.part * rows + row;
  return (row / cut.head_dim * cut.parts + cut.part) * cut.head_dim + row % cut.head_dim;
}

std::vector<float> transpose(const std::vector<float>& x, int64_t rows, int64_t columns) {
  std::vector<float> y(x.size());
  for (int64_t r = 0; r < rows; r++) {
    for (int64_t c = 0; c < columns; c++) y[c * rows + r] = x[r * columns + c];
  }
  return y;
}

std::vector<int64_t> StoredWeight::shape() const {
  std::vector<int64_t> shape = stored_shape(*this);
  if (!fits(cut, shape)) return shape;
  if (cut.transposed) std::swap(shape[0], shape[1]);
  if (cut.parts > 1) shape[0] /= cut.parts;
  return shape;
}

std::string_view StoredWeight::type() const {
  if (const auto* view = std::get_if<TensorView>(&tensor)) return dtype_name(view->dtype);
  return ggml_type_name(std::get<GgufTensor>(tensor).type);
}

bool StoredWeight::real() const {
  if (const auto* view = std::get_if<TensorView>(&tensor)) return is_float(view->dtype);
  return can_dequantise(std::get<GgufTensor>(tensor).type);
}

std::vector<float> StoredWeight::numbers() const {
  std::vector<float> all = stored_numbers(*this);
  const std::vector<int64_t> stored = stored_shape(*this);
  if (!fits(cut, stored)) throw Error("a tensor of shape {} cannot be cut", shape_text(stored));
  if (cut.transposed) all = transpose(all, stored[0], stored[1]);
  if (all.empty() || (cut.parts == 1 && cut.pairs_of == 0)) return all;
  const int64_t rows = shape()[0];
  const auto columns = static_cast<int64_t>(all.size()) / (rows * cut.parts);
  std::vector<float> numbers(static_cast<size_t>(rows * columns));
  for (int64_t row = 0; row < rows; row++) {
    std::copy_n(all.begin() + stored_row(cut, row, rows) * columns, columns, numbers.begin() + row * columns);
  }
  return numbers;
}

}  // namespace onceover
