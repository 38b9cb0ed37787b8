// Small plans for the tests of analysis.
#pragma once
#include <random>

#include "architectures/presets.h"
#include "architectures/registry.h"
#include "plan/builder.h"

namespace onceover {

inline Plan preset_plan(const std::string& name) { return build(*find_preset(name)); }

// Every wiring once, with retention and routing.
inline std::vector<std::pair<std::string, Config>> every_wiring() {
  std::vector<std::pair<std::string, Config>> all;
  for (const Architecture& architecture : all_architectures()) {
    all.emplace_back(architecture.name, *find_preset(architecture.name + "-tiny"));
  }
  Config retention = *find_preset("yoco-u-tiny");
  retention.self_mixer = Mixer::Retention;
  all.emplace_back("yoco-u, retention", retention);
  Config routed = *find_preset("yoco-u-tiny");
  routed.num_experts = 6;
  routed.num_experts_per_tok = 2;
  routed.moe_intermediate_size = 32;
  routed.shared_expert_intermediate_size = 16;
  all.emplace_back("yoco-u, routed", routed);
  return all;
}

inline const LinearSpec narrow{8, "kv", "residual", Init::normal(1)};

}  // namespace onceover
