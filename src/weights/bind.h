// Stored tensors meet a plan: every weight gets the view of its name, and nothing else is let in.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "weights/tensor.h"

namespace onceover {

// What a model's file says of one weight.
struct WeightFile {
  std::vector<int64_t> shape;
  std::string type;  // "BF16", "Q4_K", …
  bool real;         // whether that type holds numbers that can be read
};
using WeightFiles = std::map<std::string, WeightFile, std::less<>>;  // by name

// Error, naming `where` and all faults together, when a weight has no tensor, a tensor has another shape or
// no type of real numbers, or a tensor belongs to no weight. Whether a head that the plan ties is the table
// is left to the caller: "lm_head.weight" is accepted there.
void require_fit(const Plan& plan, const WeightFiles& files, const std::string& where);

// Where the plan's logits read the embedding table, the name of that table; else "".
std::string tied_table(const Plan& plan);

// The Error of a stored head that is not the table which the plan ties it to.
[[noreturn]] void refuse_other_head(const std::string& table, const std::string& where);

// One view per weight, by WeightId. Error, naming `where` and all faults together, when a weight has no
// tensor, a tensor has another shape or no float dtype, or a tensor belongs to no weight (also the key and
// value projections of layers that read another layer's: they are refused, never used). Tied embeddings (the
// plan's logits read the embedding table): a stored "lm_head.weight" is accepted if it equals the table
// number for number, and refused otherwise. Untied without a stored head: the Error names
// tie_word_embeddings.
std::vector<TensorView> bind_weights(const Plan& plan, const TensorMap& tensors, const std::string& where);

// The other way: the tensors of a plan whose numbers are in memory, by WeightId, for writing. Views into
// `weights`.
TensorMap name_weights(const Plan& plan, const std::vector<std::vector<float>>& weights);

}  // namespace onceover
