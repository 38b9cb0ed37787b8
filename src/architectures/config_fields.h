// The one table of config.json keys: reading, writing, the nearest-name hint and docs/config.md all walk it.
#pragma once
#include <array>
#include <string_view>

#include "architectures/config.h"

namespace onceover {

// Range of a number, both ends included.
struct Range {
  double low, high;
};

template <class E>
struct Choice {
  E value;
  const char* name;
};

// Names of an enum's values, in config.json.
inline const auto& choices(Mixer) {
  static const std::vector<Choice<Mixer>> all = {{Mixer::Attention, "attention"},
                                                 {Mixer::Retention, "retention"}};
  return all;
}
inline const auto& choices(PositionEmbedding) {
  static const std::vector<Choice<PositionEmbedding>> all = {{PositionEmbedding::Rope, "rope"},
                                                             {PositionEmbedding::None, "none"},
                                                             {PositionEmbedding::Learned, "learned"}};
  return all;
}
inline const auto& choices(NormKind) {
  static const std::vector<Choice<NormKind>> all = {{NormKind::Rms, "rms"}, {NormKind::Layer, "layer"}};
  return all;
}
inline const auto& choices(FeedForward) {
  static const std::vector<Choice<FeedForward>> all = {
      {FeedForward::Swiglu, "swiglu"}, {FeedForward::Gelu, "gelu"}, {FeedForward::GeluTanh, "gelu-tanh"}};
  return all;
}
inline const auto& choices(CrossKv) {
  static const std::vector<Choice<CrossKv>> all = {{CrossKv::Projected, "projected"},
                                                   {CrossKv::LastLayer, "last-layer"}};
  return all;
}
inline const auto& choices(ResidualSource) {
  static const std::vector<Choice<ResidualSource>> all = {{ResidualSource::SameLoop, "same-loop"},
                                                          {ResidualSource::FirstLoop, "first-loop"}};
  return all;
}
inline const auto& choices(Initializer) {
  static const std::vector<Choice<Initializer>> all = {{Initializer::Normal, "normal"},
                                                       {Initializer::Yoco, "yoco"}};
  return all;
}

// Keys that say something only while self_mixer is "retention".
inline constexpr std::array<std::string_view, 2> retention_keys = {"num_retention_heads",
                                                                   "retention_temperature"};

// Calls f(key, member, range, common, meaning) for every key. `common` keys mean something in every
// architecture, the others only where the registry lists them.
template <class C, class F>
void for_config_fields(C& c, F f) {
  constexpr Range size{1, 1 << 20}, layers{1, 1024}, optional_layers{0, 1024}, positive{1e-12, 1e12},
      any{0, 0};
  f("vocab_size", c.vocab_size, Range{1, 1 << 24}, true, "rows of the embedding table");
  f("hidden_size", c.hidden_size, size, true, "width of the residual stream");
  f("num_hidden_layers", c.num_hidden_layers, layers, true, "layers that have weights of their own");
  f("num_attention_heads", c.num_attention_heads, Range{1, 4096}, true, "query heads");
  f("num_key_value_heads", c.num_key_value_heads, Range{1, 4096}, true,
    "key and value heads; divides the query heads");
  f("head_dim", c.head_dim, Range{1, 4096}, true,
    "width of a head; hidden_size / num_attention_heads when left out");
  f("intermediate_size", c.intermediate_size, Range{1, 1 << 22}, true, "width of the dense feed-forward");
  f("max_position_embeddings", c.max_position_embeddings, Range{1, 1 << 30}, true,
    "longest context trained for");
  f("rms_norm_eps", c.rms_norm_eps, Range{0, 1}, true,
    "added to the mean square in RMSNorm, to the variance in LayerNorm");
  f("rope_theta", c.rope_theta, positive, true, "base of the rotary angles");
  f("rope_scaling", c.rope_scaling, any, true, "change of the rotary angles; null = none");
  f("partial_rotary_factor", c.partial_rotary_factor, Range{1e-3, 1}, true,
    "share of a head's dims that turn, the first ones");
  f("rope_linspace", c.rope_linspace, any, true, "the last rotary frequency is 1 / theta: published YOCO");
  f("norm", c.norm, any, true, "rms (RMSNorm) or layer (LayerNorm, with bias)");
  f("feed_forward", c.feed_forward, any, true,
    "swiglu, or one matrix in, GELU (exact, or the form with tanh) and one out");
  f("use_parallel_residual", c.use_parallel_residual, any, true,
    "attention and feed-forward of a layer read the same value");
  f("qk_norm", c.qk_norm, any, true, "RMSNorm over each head of queries and keys");
  f("qkv_bias", c.qkv_bias, any, true, "biases on q_proj, k_proj and v_proj");
  f("attention_bias", c.attention_bias, any, true, "biases on q_proj, k_proj, v_proj and o_proj");
  f("mlp_bias", c.mlp_bias, any, true, "biases on the matrices of the feed-forward");
  f("tie_word_embeddings", c.tie_word_embeddings, any, true, "the output matrix is the embedding table");
  f("embedding_scale", c.embedding_scale, positive, true,
    "multiplies the embedding; published YOCO: sqrt(hidden_size)");
  f("initializer", c.initializer, any, true, "normal (GPT-2's rule) or yoco (the published code's)");
  f("initializer_range", c.initializer_range, Range{0, 100}, true,
    "standard deviation of fresh weights, rule normal");
  f("bos_token_id", c.bos_token_id, Range{0, 1 << 24}, true, "token that starts a text");
  f("eos_token_id", c.eos_token_id, Range{0, 1 << 24}, true, "token, or tokens, that end a text");
  f("pad_token_id", c.pad_token_id, Range{0, 1 << 24}, true, "filler token");
  f("num_experts", c.num_experts, Range{0, 4096}, true, "routed experts a layer; 0 = dense feed-forward");
  f("num_experts_per_tok", c.num_experts_per_tok, Range{1, 4096}, true, "experts that run for a token");
  f("moe_intermediate_size", c.moe_intermediate_size, Range{0, 1 << 22}, true,
    "feed-forward width of an expert");
  f("shared_expert_intermediate_size", c.shared_expert_intermediate_size, Range{0, 1 << 22}, true,
    "width of the expert that always runs; 0 = none");
  f("norm_topk_prob", c.norm_topk_prob, any, true, "divide the chosen experts' probabilities by their sum");
  f("router_aux_loss_coef", c.router_aux_loss_coef, Range{0, 1e6}, true, "weight of the load-balancing loss");
  f("sliding_window", c.sliding_window, Range{1, 1 << 30}, false,
    "rows that windowed attention sees, itself included; null = all");
  f("num_loops", c.num_loops, Range{1, 1024}, false, "how often the repeated layers run");
  f("num_recursed_layers", c.num_recursed_layers, optional_layers, false,
    "rins: layers that repeat; 0 = half");
  f("num_self_layers", c.num_self_layers, optional_layers, false, "layers of the self-decoder; 0 = half");
  f("num_self_attention_heads", c.num_self_attention_heads, Range{0, 4096}, false,
    "query heads of the self-decoder, together as wide as the others; 0 = num_attention_heads");
  f("num_self_key_value_heads", c.num_self_key_value_heads, Range{0, 4096}, false,
    "key and value heads of the self-decoder; 0 = num_key_value_heads");
  f("self_mixer", c.self_mixer, any, false, "how the self-decoder mixes rows");
  f("num_retention_heads", c.num_retention_heads, Range{0, 4096}, false, "0 = hidden_size / 256, at least 1");
  f("retention_temperature", c.retention_temperature, positive, false, "root taken of the decay gate");
  f("self_position_embedding", c.self_position_embedding, any, false,
    "of the self-decoder, or of every layer");
  f("cross_position_embedding", c.cross_position_embedding, any, false, "of the cross-decoder");
  f("cross_kv", c.cross_kv, any, false, "where the global cache comes from");
  f("kv_residual_scale", c.kv_residual_scale, positive, false, "YOCO++'s lambda");
  f("kv_residual_source", c.kv_residual_source, any, false, "iteration whose first layer is mixed in");
  f("kv_residual_per_loop", c.kv_residual_per_loop, any, false, "own mixing weights for each iteration");
}

}  // namespace onceover
