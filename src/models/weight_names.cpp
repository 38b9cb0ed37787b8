#include "models/weight_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/printable.h"

namespace onceover {
namespace {

struct LayerName {
  std::string pattern;  // the number replaced by {}
  std::string number;
};

// The first part of the name that is a number: "h.3.attn.bias" is "h.{}.attn.bias" of layer 3.
LayerName layer_name(const std::string& name) {
  for (size_t start = 0; start < name.size();) {
    const size_t end = std::min(name.find('.', start), name.size());
    const bool number = end > start && std::all_of(name.begin() + start, name.begin() + end,
                                                   [](char c) { return c >= '0' && c <= '9'; });
    if (number) return {name.substr(0, start) + "{}" + name.substr(end), name.substr(start, end - start)};
    start = end + 1;
  }
  return {name, ""};
}

std::string with_number(const std::string& pattern, const std::string& number) {
  const size_t at = pattern.find("{}");
  return at == std::string::npos ? pattern : pattern.substr(0, at) + number + pattern.substr(at + 2);
}

bool ignored(const Naming& naming, const std::string& name) {
  return std::any_of(naming.ignored.begin(), naming.ignored.end(),
                     [&](const std::string& end) { return name.ends_with(end); });
}

// A rule for the weight and one for the bias.
void both(Naming& naming, const std::string& ours, const std::string& theirs, const Cut& cut = {}) {
  Cut of_bias = cut;
  of_bias.transposed = false;
  naming.rules.push_back({ours + ".weight", theirs + ".weight", cut});
  naming.rules.push_back({ours + ".bias", theirs + ".bias", of_bias});
}

constexpr const char* layer = "model.layers.{}.";

void parts_of(Naming& naming, const std::string& theirs, Cut cut) {
  cut.parts = 3;
  for (const char* name : {"q_proj", "k_proj", "v_proj"}) {
    both(naming, layer + fmt::format("self_attn.{}", name), theirs, cut);
    cut.part++;
  }
}

Naming gpt_neox(const Config& c) {
  Naming n;
  n.ignored = {".attention.bias", ".attention.masked_bias", ".attention.rotary_emb.inv_freq"};
  both(n, "model.embed_tokens", "gpt_neox.embed_in");
  both(n, "lm_head", "embed_out");
  both(n, "model.norm", "gpt_neox.final_layer_norm");
  const std::string theirs = "gpt_neox.layers.{}.";
  for (const char* norm : {"input_layernorm", "post_attention_layernorm"})
    both(n, layer + std::string(norm), theirs + norm);
  parts_of(n, theirs + "attention.query_key_value", {.head_dim = c.head_dim});
  both(n, layer + std::string("self_attn.o_proj"), theirs + "attention.dense");
  both(n, layer + std::string("mlp.up_proj"), theirs + "mlp.dense_h_to_4h");
  both(n, layer + std::string("mlp.down_proj"), theirs + "mlp.dense_4h_to_h");
  return n;
}

Naming gpt2() {
  Naming n;
  n.ignored = {".attn.bias", ".attn.masked_bias"};
  n.optional_prefix = "transformer.";
  both(n, "model.embed_tokens", "transformer.wte");
  both(n, "model.embed_positions", "transformer.wpe");
  both(n, "model.norm", "transformer.ln_f");
  both(n, "lm_head", "lm_head");
  const std::string theirs = "transformer.h.{}.";
  both(n, layer + std::string("input_layernorm"), theirs + "ln_1");
  both(n, layer + std::string("post_attention_layernorm"), theirs + "ln_2");
  parts_of(n, theirs + "attn.c_attn", {.transposed = true});
  both(n, layer + std::string("self_attn.o_proj"), theirs + "attn.c_proj", {.transposed = true});
  both(n, layer + std::string("mlp.up_proj"), theirs + "mlp.c_fc", {.transposed = true});
  both(n, layer + std::string("mlp.down_proj"), theirs + "mlp.c_proj", {.transposed = true});
  return n;
}

// What all architectures of GGUF share.
Naming gguf_common() {
  Naming n;
  n.ignored = {"rope_freqs.weight"};  // read as part of the config
  both(n, "model.embed_tokens", "token_embd");
  both(n, "model.embed_positions", "position_embd");
  both(n, "model.norm", "output_norm");
  both(n, "lm_head", "output");
  const std::pair<const char*, const char*> parts[] = {
      {"input_layernorm", "attn_norm"},    {"self_attn.v_proj", "attn_v"},
      {"self_attn.o_proj", "attn_output"}, {"self_attn.q_norm", "attn_q_norm"},
      {"self_attn.k_norm", "attn_k_norm"}, {"post_attention_layernorm", "ffn_norm"},
      {"mlp.gate_proj", "ffn_gate"},       {"mlp.up_proj", "ffn_up"},
      {"mlp.down_proj", "ffn_down"}};
  for (const auto& [ours, theirs] : parts)
    both(n, layer + std::string(ours), fmt::format("blk.{{}}.{}", theirs));
  return n;
}

void yoco_layers(Naming& n, const std::string& decoder, int first, int count, const std::string& mixer,
                 int64_t head_dim) {
  // Layers of the two decoders are numbered apart, so each gets rules of its own.
  for (int l = 0; l < count; l++) {
    const std::string ours = fmt::format("model.layers.{}.", first + l);
    const std::string theirs = fmt::format("{}.layers.{}.", decoder, l);
    both(n, ours + "input_layernorm", theirs + "mixer_layer_norm");
    both(n, ours + "post_attention_layernorm", theirs + "final_layer_norm");
    both(n, ours + "mlp.gate_proj", theirs + "ffn.fc1");
    both(n, ours + "mlp.up_proj", theirs + "ffn.gate");
    both(n, ours + "mlp.down_proj", theirs + "ffn.fc2");
    both(n, ours + mixer + ".q_proj", theirs + "mixer.q_proj", {.pairs_of = head_dim});
    both(n, ours + mixer + ".k_proj", theirs + "mixer.k_proj", {.pairs_of = head_dim});
    both(n, ours + mixer + ".v_proj", theirs + "mixer.v_proj");
    both(n, ours + mixer + ".g_proj", theirs + "mixer.g_proj");
    both(n, ours + mixer + ".decay_proj", theirs + "mixer.gt_proj");
    both(n, ours + mixer + ".o_proj", theirs + "mixer.out_proj");
  }
}

}  // namespace

StoredWeights rename_tensors(const Naming& naming, const std::map<std::string, StoredWeight>& tensors,
                             const std::string& where) {
  std::multimap<std::string, const NameRule*> by_their_name;
  for (const NameRule& rule : naming.rules) by_their_name.emplace(rule.theirs, &rule);
  StoredWeights weights;
  const auto add = [&](std::string name, StoredWeight weight, const std::string& stored) {
    if (!weights.emplace(std::move(name), std::move(weight)).second)
      throw Error("{}: tensor '{}' holds a weight that another tensor holds too", where, printable(stored));
  };
  for (const auto& [stored, weight] : tensors) {
    LayerName known = layer_name(stored);
    if (!by_their_name.contains(known.pattern)) known = layer_name(naming.optional_prefix + stored);
    if (!by_their_name.contains(known.pattern)) known = {stored, ""};
    const auto [first, last] = by_their_name.equal_range(known.pattern);
    for (auto rule = first; rule != last; ++rule) {
      StoredWeight cut = weight;
      cut.cut = rule->second->cut;
      add(with_number(rule->second->ours, known.number), std::move(cut), stored);
    }
    if (first == last && !ignored(naming, stored)) add(stored, weight, stored);
  }
  return weights;
}

std::pair<std::string, Cut> their_name(const Naming& naming, const std::string& ours) {
  for (const LayerName& name : {layer_name(ours), LayerName{ours, ""}}) {
    for (const NameRule& rule : naming.rules) {
      if (rule.ours == name.pattern) return {with_number(rule.theirs, name.number), rule.cut};
    }
  }
  return {ours, {}};
}

Naming huggingface_names(const std::string& model_type, const Config& config) {
  if (model_type == "gpt_neox") return gpt_neox(config);
  if (model_type == "gpt2") return gpt2();
  Naming ours;
  ours.ignored = {".self_attn.rotary_emb.inv_freq"};
  return ours;
}

Naming gguf_names(const Config& config, bool pairs_together) {
  Naming n = gguf_common();
  const int64_t pairs = pairs_together ? config.head_dim : 0;
  both(n, layer + std::string("self_attn.q_proj"), "blk.{}.attn_q", {.pairs_of = pairs});
  both(n, layer + std::string("self_attn.k_proj"), "blk.{}.attn_k", {.pairs_of = pairs});
  parts_of(n, "blk.{}.attn_qkv", {});
  return n;
}

Naming yoco_names(const Config& c) {
  const bool retention = c.self_mixer == Mixer::Retention;
  const int layers = c.num_hidden_layers, half = layers / 2;
  const int self_heads = retention                        ? c.num_retention_heads
                         : c.num_self_attention_heads > 0 ? c.num_self_attention_heads
                                                          : c.num_attention_heads;
  Naming n;
  both(n, "model.embed_tokens", "embed_tokens");
  both(n, "lm_head", "output_projection");
  both(n, "model.norm", "layer_norm");
  both(n, "model.cross_kv.norm", "cross_decoder.kv_layer_norm");
  both(n, "model.cross_kv.k_proj", "cross_decoder.k_proj", {.pairs_of = c.head_dim});
  both(n, "model.cross_kv.v_proj", "cross_decoder.v_proj");
  yoco_layers(n, "self_decoder", 0, half, retention ? "retention" : "self_attn", c.hidden_size / self_heads);
  yoco_layers(n, "cross_decoder", half, layers - half, "cross_attn", c.head_dim);
  return n;
}

}  // namespace onceover
