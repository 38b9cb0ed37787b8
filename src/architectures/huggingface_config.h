// config.json of models that others made: Hugging Face's model types in the words of this project.
//
// docs/imported-models.md holds the table of types, keys and what is refused.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "architectures/config.h"

namespace onceover {

// "llama", "mistral", …
std::vector<std::string> huggingface_model_types();

// Whether this object is such a config: a model_type of that list, and no key 'architecture'.
bool is_huggingface_config(const nlohmann::json& json);

// The same model in our keys, with the defaults of transformers for keys left out. Keys that say nothing
// about the mathematics, and keys that this type never had, are dropped. Error naming `where` and the key for
// a feature that is not supported: another activation, an unknown rotary type, quantised weights, experts,
// layers of several kinds, another head than that of a language model.
nlohmann::json from_huggingface(const nlohmann::json& json, const std::string& where);

// What transformers would call the model: model_type, architectures and the keys that it wants beside ours;
// nothing when it has no such model.
nlohmann::ordered_json huggingface_words(const Config& config);

}  // namespace onceover
