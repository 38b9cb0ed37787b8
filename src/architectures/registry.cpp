#include "architectures/registry.h"

#include <algorithm>

#include "architectures/architectures.h"
#include "architectures/config_fields.h"
#include "base/error.h"
#include "base/printable.h"
#include "base/text.h"

namespace onceover {
namespace {

void no_defaults(Config&) {}

void universal_defaults(Config& c) { c.num_loops = 2; }

void ouro_defaults(Config& c) { c.num_loops = 4; }

void rins_defaults(Config& c) { c.num_loops = 3; }

void yoco_defaults(Config& c) { c.sliding_window = 512; }

void yoco_u_defaults(Config& c) {
  c.sliding_window = 512;
  c.num_loops = 3;
  c.cross_position_embedding = PositionEmbedding::None;
}

void yoco_plus_defaults(Config& c) { c.cross_kv = CrossKv::LastLayer; }

const std::vector<std::string> yoco_keys = {"sliding_window", "num_self_layers", "self_position_embedding",
                                            "cross_position_embedding"};

void check_loops(const Architecture& architecture, const Config& config, int loops) {
  if (loops == config.num_loops) return;
  const auto& keys = architecture.keys;
  if (std::find(keys.begin(), keys.end(), "num_loops") == keys.end()) {
    throw Error("architecture '{}' has no loop, cannot run {} loops", architecture.name, loops);
  }
  if (config.kv_residual_per_loop && loops > config.num_loops) {
    throw Error("kv_residual_per_loop gives weights for {} loops, cannot run {}", config.num_loops, loops);
  }
  if (loops > 1024) throw Error("cannot run {} loops, at most 1024", loops);
  if (config.num_hidden_layers * loops > 16384) {
    throw Error("{} layers cannot run {} loops: at most 16384 layer applications", config.num_hidden_layers,
                loops);
  }
}

std::vector<std::string> yoco_keys_and(std::vector<std::string> more) {
  more.insert(more.begin(), yoco_keys.begin(), yoco_keys.end());
  return more;
}

// The architectures whose self-decoder may mix by retention.
std::vector<std::string> mixer_keys_and(std::vector<std::string> more) {
  for (const char* key : {"self_mixer", "num_self_attention_heads", "num_self_key_value_heads"})
    more.emplace_back(key);
  more.insert(more.end(), retention_keys.begin(), retention_keys.end());
  return yoco_keys_and(std::move(more));
}

}  // namespace

const std::vector<Architecture>& all_architectures() {
  static const std::vector<Architecture> table = {
      {"transformer",
       "decoder-only Transformer (Llama, Mistral, Qwen, GPT-NeoX, GPT-2)",
       transformer,
       no_defaults,
       {"sliding_window", "self_position_embedding"}},
      {"universal",
       "the whole stack looped (Universal Transformer)",
       universal,
       universal_defaults,
       {"sliding_window", "self_position_embedding", "num_loops"}},
      {"ouro",
       "the whole stack looped, a norm behind every part and iteration (Ouro)",
       ouro,
       ouro_defaults,
       {"sliding_window", "self_position_embedding", "num_loops"}},
      {"rins",
       "early layers looped, later layers once (RINS, A^r B)",
       rins,
       rins_defaults,
       {"sliding_window", "self_position_embedding", "num_loops", "num_recursed_layers"}},
      {"yoco", "windowed or retention self-decoder, one global cache, cross-decoder (YOCO)", yoco_u,
       yoco_defaults, mixer_keys_and({})},
      {"yoco-u", "YOCO with its self-decoder looped (Universal YOCO)", yoco_u, yoco_u_defaults,
       mixer_keys_and({"num_loops"})},
      {"yoco-upper-loop", "YOCO with its cross-decoder looped (ablation)", yoco_upper_loop, yoco_u_defaults,
       yoco_keys_and({"num_loops"})},
      {"yoco-upper-loop-unshared", "upper half looped with full attention, a cache each (ablation)",
       yoco_upper_loop_unshared, yoco_u_defaults, yoco_keys_and({"num_loops"})},
      {"yoco-plus", "YOCO with KV residual connections (YOCO++)", yoco_plus, yoco_plus_defaults,
       yoco_keys_and(
           {"num_loops", "cross_kv", "kv_residual_scale", "kv_residual_source", "kv_residual_per_loop"})},
  };
  return table;
}

const Architecture& find_architecture(const std::string& name, const std::string& where) {
  std::vector<std::string> names;
  for (const auto& entry : all_architectures()) {
    if (entry.name == name) return entry;
    names.push_back(entry.name);
  }
  throw Error("{}: unknown architecture '{}'{} (known: {})", where, printable(name),
              did_you_mean(name, names), fmt::join(names, ", "));
}

Plan build(const Config& config, const Run& run) {
  const Architecture& architecture = find_architecture(config.architecture, "config");
  if (run.loops < 0) throw Error("cannot run {} loops", run.loops);
  const int loops = run.loops > 0 ? run.loops : config.num_loops;
  check_loops(architecture, config, loops);
  Builder builder;
  if (loops != config.num_loops) {
    architecture.record(builder, config, config.num_loops);
    builder.restart();
  }
  architecture.record(builder, config, loops);
  return builder.finish();
}

}  // namespace onceover
