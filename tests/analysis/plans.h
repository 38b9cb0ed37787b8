// Small plans for the tests of analysis.
#pragma once
#include <random>

#include "architectures/presets.h"
#include "architectures/registry.h"
#include "plan/builder.h"

namespace onceover {

inline Plan preset_plan(const std::string& name) { return build(*find_preset(name)); }

inline const LinearSpec narrow{8, "kv", "residual", Init::normal(1)};

}  // namespace onceover
