// params.json of YOCO's published code (github.com/microsoft/unilm, YOCO).
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "architectures/config.h"

namespace onceover {

// Its self-decoder has as many key heads as query heads, of a width of its own, and mixes by retention unless
// sliding_window is there; rotary frequencies end at 1 / theta; embeddings are scaled by sqrt(dim). Error
// naming `where` and the key for one that is missing, unknown or of another type.
Config config_from_yoco_params(const nlohmann::json& params, const std::string& where);

}  // namespace onceover
