// RunState as JSON, with a check that finds any damaged member.
#pragma once
#include <nlohmann/json.hpp>

#include "train/checkpoint.h"

namespace onceover {

nlohmann::json state_to_json(const RunState& state);

// Error, naming `where`, when a member is missing, has another type or is negative, or the check does not
// fit.
RunState state_from_json(const nlohmann::json& json, const std::string& where);

}  // namespace onceover
