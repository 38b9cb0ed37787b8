// config.json as transformers writes it, for the types whose files do not speak our words.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "architectures/config.h"

namespace onceover {

// Of a GPT-NeoX or a GPT-2, in transformers' keys alone; config_from_json() gives `config` back. Null for any
// other model: config_to_json() then holds what transformers reads, where it knows the model at all.
nlohmann::ordered_json official_config(const Config& config);

}  // namespace onceover
