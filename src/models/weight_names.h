// Names of tensors elsewhere, and the weights of our plans that lie in them.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "architectures/config.h"
#include "models/stored_weight.h"

namespace onceover {

// "{}" is the number of a layer. `theirs` may be in several rules: a tensor that holds several weights.
struct NameRule {
  std::string ours, theirs;
  Cut cut = {};
};

struct Naming {
  std::vector<NameRule> rules;
  std::vector<std::string> ignored;  // ends of names that hold no weight: masks, tables of angles
  std::string optional_prefix = "";  // of names, that some files leave out
};

// Tensors by their names in the file to weights by ours. A tensor that no rule knows keeps its name, so that
// nothing is lost in silence; with no rules at all every name is ours already. Error naming `where` when two
// tensors hold the same weight.
StoredWeights rename_tensors(const Naming& naming, const std::map<std::string, StoredWeight>& tensors,
                             const std::string& where);

// The tensor that holds one of our weights, and where in it; itself where no rule knows it.
std::pair<std::string, Cut> their_name(const Naming& naming, const std::string& ours);

// Of Hugging Face's checkpoints by model_type; the types that are not here have our names.
Naming huggingface_names(const std::string& model_type, const Config& config);

// Of GGUF. pairs_together: rotary pairs lie side by side in the rows of queries and keys.
Naming gguf_names(const Config& config, bool pairs_together);

// Of YOCO's published code.
Naming yoco_names(const Config& config);

}  // namespace onceover
