// A weight of a model as its file holds it, under another name, in another type or order of rows.
//
// Views into an open file (model_file.h). All functions are pure; several threads may read one weight.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "gguf/gguf_tensor.h"
#include "weights/tensor.h"

namespace onceover {

// How a weight of [rows, columns], or of [rows], is cut from a stored tensor.
struct Cut {
  bool transposed = false;  // stored as [columns, rows] (GPT-2)
  int part = 0, parts = 1;  // several weights lie in one tensor, their rows behind each other …
  int64_t head_dim = 0;     // … or, when this is not 0, head by head
  int64_t pairs_of = 0;     // heads of so many rows whose rotary pairs are stored side by side (2j, 2j + 1)
};

struct StoredWeight {
  std::variant<TensorView, GgufTensor> tensor;
  Cut cut = {};

  std::vector<int64_t> shape() const;  // of the weight
  std::string_view type() const;       // "BF16", "Q4_K", …
  bool real() const;                   // whether its type holds numbers that can be read
  // All numbers, row-major. Error naming the type when they cannot be read.
  std::vector<float> numbers() const;
};

// The row of a stored tensor that holds `row` of a weight of so many rows.
int64_t stored_row(const Cut& cut, int64_t row, int64_t rows);

// [rows, columns] to [columns, rows].
std::vector<float> transpose(const std::vector<float>& x, int64_t rows, int64_t columns);

// By the name that plans know it under.
using StoredWeights = std::map<std::string, StoredWeight, std::less<>>;

}  // namespace onceover
