// The architectures by name.
//
// To add one: write its function in a file of this folder, declare it in architectures.h, add one line to the
// table in registry.cpp (docs/adding-an-architecture.md). Parity tests and golden plans find it through
// all_architectures().
#pragma once
#include <string>
#include <vector>

#include "architectures/config.h"
#include "plan/builder.h"

namespace onceover {

// What may vary without new weights.
struct Run {
  int loops = 0;  // 0 = config.num_loops
};

struct Architecture {
  std::string name, summary;
  void (*record)(Builder&, const Config&, int loops);
  void (*defaults)(Config&);      // settings whose default differs from Config's
  std::vector<std::string> keys;  // keys of config.json, beyond the common ones, that it reads
};

const std::vector<Architecture>& all_architectures();

// Throws Error naming the nearest known name.
const Architecture& find_architecture(const std::string& name, const std::string& where);

// Records the plan. The config must have passed check_config. Weights and their ids are those of
// config.num_loops, whatever depth runs.
Plan build(const Config& config, const Run& run = {});

}  // namespace onceover
