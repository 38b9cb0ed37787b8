// Models small enough to run through the oracle in milliseconds: every registered architecture, and variants
// of each that switch on what its default leaves off.
#pragma once
#include <iosfwd>
#include <string>
#include <vector>

#include "architectures/config.h"
#include "plan/plan.h"

namespace onceover::test {

struct Model {
  std::string name;  // letters, digits and _, as GoogleTest wants
  Config config;
  int loops;
  Plan plan;
};
void PrintTo(const Model& model, std::ostream* out);  // its name, in GoogleTest's messages

constexpr int tiny_window = 5;

// The architecture's defaults at width 16, 4 layers, 4 query heads over 2 key heads, 29 tokens; windows where
// it has them are tiny_window.
Config tiny_config(const std::string& architecture);

// Feed-forward becomes 5 routed experts, 2 active, beside a shared one.
void route_experts(Config& config);

// "yoco-u" -> "yoco_u".
std::string test_name(std::string name);

Model tiny_model(const std::string& name, const Config& config, int loops = 0);

// Every registered architecture as tiny_config has it, then the variants.
std::vector<Model> tiny_models();

}  // namespace onceover::test
