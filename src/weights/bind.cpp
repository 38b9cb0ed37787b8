#include "weights/bind.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <stdexcept>
#include <string_view>

#include "base/error.h"
#include "base/printable.h"
#include "base/text.h"

namespace onceover {
namespace {

constexpr std::string_view head_name = "lm_head.weight";

// The weight that the plan's logits read.
WeightId head_of(const Plan& plan) {
  if (plan.logits < 0) return no_weight;
  const auto* logits = std::get_if<Logits>(&plan.steps[plan.logits].op);
  return logits == nullptr ? no_weight : logits->weight;
}

bool is_tied(const Plan& plan) {
  const WeightId head = head_of(plan);
  return std::any_of(plan.steps.begin(), plan.steps.end(), [&](const Step& step) {
    const auto* embed = std::get_if<Embed>(&step.op);
    return embed != nullptr && embed->table == head;
  });
}

// Number for number, whatever the dtypes; two NaN of one bit pattern are equal. Converts a piece at a time.
bool same_numbers(const TensorView& a, const TensorView& b) {
  if (a.shape != b.shape) return false;
  if (a.dtype == b.dtype) return std::equal(a.bytes.begin(), a.bytes.end(), b.bytes.begin(), b.bytes.end());
  constexpr size_t piece = 4096;
  std::vector<double> from_a(piece), from_b(piece);
  for (size_t first = 0; first < a.elements(); first += piece) {
    const size_t count = std::min(piece, a.elements() - first);
    convert(a, first, std::span(from_a).first(count));
    convert(b, first, std::span(from_b).first(count));
    if (std::memcmp(from_a.data(), from_b.data(), count * sizeof(double)) != 0) return false;
  }
  return true;
}

// "2 tensors are missing: 'a', 'b'", naming the first few.
struct Fault {
  const char* one;
  const char* many;
  std::vector<std::string> items;

  std::string text() const {
    constexpr size_t shown = 4;
    const std::vector<std::string> first(items.begin(), items.begin() + std::min(shown, items.size()));
    const std::string list = fmt::format("{}{}", fmt::join(first, ", "), items.size() > shown ? ", …" : "");
    return items.size() == 1 ? fmt::format("{}: {}", one, list)
                             : fmt::format("{} {}: {}", items.size(), many, list);
  }
};

std::string quoted(std::string_view name) { return fmt::format("'{}'", printable(name)); }

class Fit {
 public:
  Fit(const Plan& plan, const WeightFiles& files, std::string where)
      : plan_(plan), files_(files), where_(std::move(where)) {}

  void require() {
    for (const auto& spec : plan_.weights) examine(spec);
    for (const auto& [name, file] : files_) examine_rest(name);
    refuse_faults();
  }

 private:
  void examine(const WeightSpec& spec) {
    names_.insert(spec.name);
    const auto found = files_.find(spec.name);
    if (found == files_.end()) {
      missing_.items.push_back(quoted(spec.name));
      return;
    }
    const WeightFile& file = found->second;
    if (file.shape != spec.shape) {
      misshapen_.items.push_back(fmt::format("{} expected {}, found {}", quoted(spec.name),
                                             shape_text(spec.shape), shape_text(file.shape)));
    }
    if (!file.real) mistyped_.items.push_back(fmt::format("{} found {}", quoted(spec.name), file.type));
  }

  void examine_rest(const std::string& name) {
    if (names_.contains(name) || (name == head_name && is_tied(plan_))) return;
    unexpected_.items.push_back(quoted(name));
  }

  std::string tie_hint() const {
    const WeightId head = head_of(plan_);
    const bool lost = head != no_weight && !is_tied(plan_) && !files_.contains(plan_.weights[head].name);
    return lost
               ? fmt::format(" (if '{}' is meant to be the embedding table, set tie_word_embeddings to true)",
                             plan_.weights[head].name)
               : "";
  }

  std::string unexpected_hint() const {
    const bool kv =
        std::all_of(unexpected_.items.begin(), unexpected_.items.end(), [](const std::string& name) {
          return name.find("k_proj.") != std::string::npos || name.find("v_proj.") != std::string::npos;
        });
    return kv ? " (a layer that reads the keys and values of another has no k_proj or v_proj of its own)"
              : "";
  }

  void refuse_faults() const {
    std::vector<std::string> faults;
    if (!missing_.items.empty()) faults.push_back(missing_.text() + tie_hint());
    if (!unexpected_.items.empty()) faults.push_back(unexpected_.text() + unexpected_hint());
    if (!misshapen_.items.empty()) faults.push_back(misshapen_.text());
    if (!mistyped_.items.empty()) faults.push_back(mistyped_.text());
    if (!faults.empty()) throw Error("{}: does not fit the model: {}", where_, fmt::join(faults, "; "));
  }

  const Plan& plan_;
  const WeightFiles& files_;
  std::string where_;
  std::set<std::string, std::less<>> names_;
  Fault missing_{"a tensor is missing", "tensors are missing", {}};
  Fault unexpected_{
      "a tensor belongs to no weight of the model", "tensors belong to no weight of the model", {}};
  Fault misshapen_{"a tensor has another shape", "tensors have another shape", {}};
  Fault mistyped_{"a tensor is not of a float dtype", "tensors are not of a float dtype", {}};
};

}  // namespace

void require_fit(const Plan& plan, const WeightFiles& files, const std::string& where) {
  Fit(plan, files, where).require();
}

std::string tied_table(const Plan& plan) { return is_tied(plan) ? plan.weights[head_of(plan)].name : ""; }

void refuse_other_head(const std::string& table, const std::string& where) {
  throw Error(
      "{}: tensor '{}' differs from '{}', but the model ties its embeddings: set tie_word_embeddings to "
      "false "
      "to use both",
      where, head_name, table);
}

std::vector<TensorView> bind_weights(const Plan& plan, const TensorMap& tensors, const std::string& where) {
  WeightFiles files;
  for (const auto& [name, tensor] : tensors) {
    files[name] = {tensor.shape, std::string(dtype_name(tensor.dtype)), is_float(tensor.dtype)};
  }
  require_fit(plan, files, where);
  const std::string table = tied_table(plan);
  const auto head = tensors.find(head_name);
  if (!table.empty() && head != tensors.end() && !same_numbers(tensors.at(table), head->second))
    refuse_other_head(table, where);
  std::vector<TensorView> bound;
  for (const auto& spec : plan.weights) bound.push_back(tensors.at(spec.name));
  return bound;
}

TensorMap name_weights(const Plan& plan, const std::vector<std::vector<float>>& weights) {
  if (weights.size() != plan.weights.size()) {
    throw std::logic_error(fmt::format("{} weights for a plan of {}", weights.size(), plan.weights.size()));
  }
  TensorMap tensors;
  for (size_t i = 0; i < weights.size(); i++)
    tensors[plan.weights[i].name] = view_of(weights[i], plan.weights[i].shape);
  return tensors;
}

}  // namespace onceover
