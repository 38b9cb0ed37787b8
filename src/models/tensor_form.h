// Tensors of a model as another maker's files hold them: the inverse of reading them (weight_names.h).
//
// Pure functions; several threads may use one form.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "models/weight_names.h"
#include "plan/plan.h"

namespace onceover {

struct TensorForm {
  std::string name;
  std::vector<int64_t> shape;                     // as stored
  std::vector<std::pair<WeightId, Cut>> weights;  // that lie in it

  // All numbers, row-major, put together from those that `of` gives for each weight.
  std::vector<float> numbers(const std::function<std::vector<float>(WeightId)>& of) const;
};

// Every weight of the plan is in one of them, under the name that `naming` has for it, else under its own. By
// name.
std::vector<TensorForm> tensor_forms(const Naming& naming, const Plan& plan);

}  // namespace onceover
