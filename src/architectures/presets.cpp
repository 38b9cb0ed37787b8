#include "architectures/presets.h"

#include "architectures/registry.h"

namespace onceover {
namespace {

struct Size {
  const char* name;
  int hidden, layers, heads, kv_heads, ffn, vocab, window, context;
  bool routed = false;
};

// Feed-forward width: 8/3 of the hidden size, rounded up to a multiple of 256. KV heads of the paper's sizes:
// width 512 as in its Table 10, or the nearest number that divides the query heads.
const std::vector<Size>& sizes() {
  static const std::vector<Size> table = {
      {"tiny", 64, 4, 4, 2, 256, 264, 8, 64},
      {"small", 384, 6, 6, 2, 1024, 4096, 128, 1024},
      {"110m", 768, 12, 12, 12, 2048, 32000, 512, 8192},
      {"300m", 1536, 12, 12, 4, 4096, 32000, 512, 8192},
      {"500m", 2048, 12, 16, 4, 5632, 32000, 512, 8192},
      {"870m", 2304, 16, 18, 6, 6144, 32000, 512, 8192},
      {"1.3b", 2560, 20, 20, 4, 6912, 32000, 512, 8192},
      {"deep-1.3b", 1792, 40, 14, 2, 4864, 32000, 512, 8192},
      {"3.4b", 4096, 20, 32, 4, 11008, 32000, 512, 8192},
      {"6.4b", 5120, 24, 40, 4, 13824, 32000, 512, 8192},
      {"10b-moe", 2560, 20, 20, 4, 6912, 32000, 512, 8192, true},
  };
  return table;
}

Config shape(const Architecture& architecture, const Size& size) {
  Config c;
  c.architecture = architecture.name;
  architecture.defaults(c);
  c.hidden_size = size.hidden;
  c.num_hidden_layers = size.layers;
  c.num_attention_heads = size.heads;
  c.num_key_value_heads = size.kv_heads;
  c.head_dim = size.hidden / size.heads;
  c.intermediate_size = size.ffn;
  c.vocab_size = size.vocab;
  c.max_position_embeddings = size.context;
  if (c.sliding_window) c.sliding_window = size.window;
  if (size.routed) {
    c.num_experts = 64;
    c.num_experts_per_tok = 8;
    c.moe_intermediate_size = 1024;
    c.shared_expert_intermediate_size = 1024;
  }
  return c;
}

}  // namespace

std::vector<std::string> preset_sizes() {
  std::vector<std::string> names;
  for (const auto& size : sizes()) names.emplace_back(size.name);
  return names;
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const auto& architecture : all_architectures()) {
    for (const auto& size : sizes()) names.push_back(architecture.name + "-" + size.name);
  }
  return names;
}

std::optional<Config> find_preset(const std::string& name) {
  for (const auto& architecture : all_architectures()) {
    for (const auto& size : sizes()) {
      if (name == architecture.name + "-" + size.name) return shape(architecture, size);
    }
  }
  return std::nullopt;
}

}  // namespace onceover
