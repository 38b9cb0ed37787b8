// Named shapes: every size in every architecture, as "<architecture>-<size>": "yoco-u-1.3b".
//
// Sizes 300m to 6.4b are Table 7 of arXiv 2604.01220; 10b-moe is its Table 6; deep-1.3b is the deep layout of
// its Table 5 (with yoco "deep instead of wide", with yoco-u "deeper"). tiny and small are for tests and
// laptops; 110m is GPT-2's shape. The paper gives neither vocabulary, KV heads (but for 1.3b) nor dense FFN
// width: docs/config.md says what stands here.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "architectures/config.h"

namespace onceover {

std::vector<std::string> preset_sizes();
std::vector<std::string> preset_names();

// Nothing when the name is no preset.
std::optional<Config> find_preset(const std::string& name);

}  // namespace onceover
