#include "models/tensor_form.h"

#include <algorithm>
#include <map>

namespace onceover {
namespace {

std::vector<int64_t> stored_shape(const Cut& cut, std::vector<int64_t> shape) {
  if (!shape.empty()) shape[0] *= cut.parts;
  if (cut.transposed) std::swap(shape.at(0), shape.at(1));
  return shape;
}

// [rows, columns] of a weight to their rows of `all`.
void put(const Cut& cut, int64_t rows, const std::vector<float>& numbers, std::vector<float>& all) {
  const int64_t columns = std::ssize(numbers) / rows;
  for (int64_t row = 0; row < rows; row++) {
    std::copy_n(numbers.begin() + row * columns, columns, all.begin() + stored_row(cut, row, rows) * columns);
  }
}

}  // namespace

std::vector<float> TensorForm::numbers(const std::function<std::vector<float>(WeightId)>& of) const {
  const Cut& first = weights.front().second;
  if (shape.empty()) return of(weights.front().first);
  const int64_t all_rows = first.transposed ? shape[1] : shape[0];
  std::vector<float> all;
  for (const auto& [id, cut] : weights) {
    const std::vector<float> numbers = of(id);
    all.resize(numbers.size() * static_cast<size_t>(cut.parts));
    put(cut, all_rows / cut.parts, numbers, all);
  }
  return first.transposed ? transpose(all, shape[1], shape[0]) : all;
}

std::vector<TensorForm> tensor_forms(const Naming& naming, const Plan& plan) {
  std::map<std::string, TensorForm> forms;
  for (size_t id = 0; id < plan.weights.size(); id++) {
    const WeightSpec& spec = plan.weights[id];
    const auto [name, cut] = their_name(naming, spec.name);
    TensorForm& form = forms[name];
    form.name = name;
    form.shape = stored_shape(cut, spec.shape);
    form.weights.emplace_back(static_cast<WeightId>(id), cut);
  }
  std::vector<TensorForm> all;
  for (auto& [name, form] : forms) all.push_back(std::move(form));
  return all;
}

}  // namespace onceover
