// Rotary scaling as config.json holds it: Hugging Face's rope_scaling, or rope_parameters of transformers 5.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "plan/rope_angles.h"

namespace onceover {

// Reads {"rope_type": "linear", "llama3" or "yarn", …}. "default", null and an empty object are none. Error
// naming `where` and the key for another type ("dynamic", "longrope", "mrope", …), a setting that this type
// has not, and a number that is missing or out of range.
RopeScaling rope_scaling_from_json(const nlohmann::json& json, const std::string& where);

// Reading it back gives `scaling`.
nlohmann::ordered_json rope_scaling_to_json(const RopeScaling& scaling);

// rope_theta and partial_rotary_factor that stand in rope_parameters, or its older name rope_scaling, as keys
// of their own, and the rest as rope_scaling; the words "type", "su" and the like of older files as today's.
// original_max_position_embeddings is max_position_embeddings where YaRN leaves it out. Error where the same
// key stands in two places and differs.
nlohmann::json with_rope_keys(nlohmann::json config, const std::string& where);

}  // namespace onceover
