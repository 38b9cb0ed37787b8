#include "architectures/blocks.h"

#include <cmath>

namespace onceover {
namespace {

enum class Side { In, Out };  // Out: the projection that writes to the residual stream

// Normal: GPT-2's rule, standard deviation initializer_range, the residual projections divided by sqrt(2
// layers). Yoco: the published code's, Kaiming uniform with a = sqrt(5), which is uniform within
// 1/sqrt(fan_in).
Init linear_init(const Config& c, int fan_in, Side side) {
  if (c.initializer == Initializer::Yoco) return Init::uniform(1 / std::sqrt(static_cast<double>(fan_in)));
  const double shrink = side == Side::Out ? std::sqrt(2.0 * c.num_hidden_layers) : 1;
  return Init::normal(c.initializer_range / shrink);
}

// Retention's projections in the published code: Xavier uniform, gain 2^-2.5 inwards and 2^-1 outwards.
Init retention_init(const Config& c, int fan_in, int fan_out, Side side) {
  if (c.initializer == Initializer::Normal) return linear_init(c, fan_in, side);
  const double gain = side == Side::Out ? 0.5 : std::pow(2, -2.5);
  return Init::uniform(gain * std::sqrt(6.0 / (fan_in + fan_out)));
}

Init embedding_init(const Config& c) {
  const bool yoco = c.initializer == Initializer::Yoco;
  return Init::normal(yoco ? 1 / std::sqrt(static_cast<double>(c.hidden_size)) : c.initializer_range);
}

// Queries or keys as attention reads them.
ValueId position_rows(Builder& b, const Config& c, ValueId x, int heads, PositionEmbedding position) {
  return position == PositionEmbedding::Rope ? b.rope(x, heads, rope_angles(c, b.width(x) / heads)) : x;
}

ValueId norm_heads(Builder& b, const Config& c, ValueId x, int heads, const char* name) {
  return c.qk_norm ? b.shared_head_norm(x, heads, name, static_cast<float>(c.rms_norm_eps)) : x;
}

ValueId dense_swiglu(Builder& b, const Config& c, ValueId x, int ffn) {
  const Init in = linear_init(c, c.hidden_size, Side::In);
  const ValueId gate = b.linear(x, "gate_proj", {ffn, "ffn", "residual", in, 0, c.mlp_bias});
  const ValueId up = b.linear(x, "up_proj", {ffn, "ffn", "residual", in, 0, c.mlp_bias});
  const Init out = linear_init(c, ffn, Side::Out);
  return b.linear(b.swiglu(gate, up), "down_proj", {c.hidden_size, "residual", "ffn", out, 1, c.mlp_bias});
}

ValueId dense_gelu(Builder& b, const Config& c, ValueId x) {
  const int ffn = c.intermediate_size;
  const Init in = linear_init(c, c.hidden_size, Side::In), out = linear_init(c, ffn, Side::Out);
  const auto function = c.feed_forward == FeedForward::Gelu ? Activation::Gelu : Activation::GeluTanh;
  const ValueId up = b.linear(x, "up_proj", {ffn, "ffn", "residual", in, 0, c.mlp_bias});
  return b.linear(b.activate(up, function), "down_proj",
                  {c.hidden_size, "residual", "ffn", out, 1, c.mlp_bias});
}

ValueId routed_swiglu(Builder& b, const Config& c, ValueId x) {
  const int ffn = c.moe_intermediate_size;
  const ValueId routed = b.experts(x, c.num_experts, ffn, c.num_experts_per_tok, c.norm_topk_prob,
                                   static_cast<float>(c.router_aux_loss_coef),
                                   linear_init(c, c.hidden_size, Side::In), linear_init(c, ffn, Side::Out));
  if (c.shared_expert_intermediate_size == 0) return routed;
  auto scope = b.scope("shared_expert");
  return b.add(routed, dense_swiglu(b, c, x, c.shared_expert_intermediate_size));
}

}  // namespace

Heads cross_heads(const Config& c) { return {c.num_attention_heads, c.num_key_value_heads, c.head_dim}; }

Heads self_heads(const Config& c) {
  Heads heads = cross_heads(c);
  if (c.num_self_attention_heads > 0) {
    heads.query = c.num_self_attention_heads;
    heads.dim = c.num_attention_heads * c.head_dim / heads.query;
  }
  if (c.num_self_key_value_heads > 0) heads.kv = c.num_self_key_value_heads;
  return heads;
}

ValueId norm_rows(Builder& b, const Config& c, ValueId x, std::string_view name) {
  const auto eps = static_cast<float>(c.rms_norm_eps);
  return c.norm == NormKind::Layer ? b.layer_norm(x, name, eps) : b.norm(x, name, eps);
}

ValueId embed_tokens(Builder& b, const Config& c) {
  const ValueId x = b.embed("embed_tokens", c.vocab_size, c.hidden_size, embedding_init(c),
                            static_cast<float>(c.embedding_scale));
  if (c.self_position_embedding != PositionEmbedding::Learned) return x;
  return b.add(x,
               b.embed_rows("embed_positions", c.max_position_embeddings, c.hidden_size, embedding_init(c)));
}

void head(Builder& b, const Config& c, ValueId x) {
  const char* name = c.tie_word_embeddings ? "model.embed_tokens.weight" : "lm_head.weight";
  b.logits(x, name, c.vocab_size, embedding_init(c));
}

void output_head(Builder& b, const Config& c, ValueId x) { head(b, c, norm_rows(b, c, x, "norm")); }

Kv project_kv(Builder& b, const Config& c, const Heads& heads, ValueId x, PositionEmbedding position) {
  const int width = heads.kv * heads.dim;
  const Init init = linear_init(c, c.hidden_size, Side::In);
  const bool bias = c.qkv_bias || c.attention_bias;
  const ValueId k = b.linear(x, "k_proj", {width, "kv", "residual", init, 0, bias});
  const ValueId v = b.linear(x, "v_proj", {width, "kv", "residual", init, 0, bias});
  return {position_rows(b, c, norm_heads(b, c, k, heads.kv, "k_norm"), heads.kv, position), v};
}

ValueId attend_to(Builder& b, const Config& c, const Heads& heads, ValueId x, Kv kv,
                  PositionEmbedding position, Mask mask) {
  const int width = heads.query * heads.dim;
  const Init in = linear_init(c, c.hidden_size, Side::In);
  ValueId q = b.linear(x, "q_proj", {width, "heads", "residual", in, 0, c.qkv_bias || c.attention_bias});
  q = position_rows(b, c, norm_heads(b, c, q, heads.query, "q_norm"), heads.query, position);
  const ValueId y = b.attend(q, kv, heads.query, heads.kv, mask);
  return b.linear(
      y, "o_proj",
      {c.hidden_size, "residual", "heads", linear_init(c, width, Side::Out), 1, c.attention_bias});
}

ValueId self_attention(Builder& b, const Config& c, ValueId x, PositionEmbedding position, Mask mask) {
  auto scope = b.scope("self_attn");
  const Heads heads = self_heads(c);
  return attend_to(b, c, heads, x, project_kv(b, c, heads, x, position), position, mask);
}

ValueId feed_forward(Builder& b, const Config& c, ValueId x) {
  auto scope = b.scope("mlp");
  if (c.num_experts > 0) return routed_swiglu(b, c, x);
  return c.feed_forward == FeedForward::Swiglu ? dense_swiglu(b, c, x, c.intermediate_size)
                                               : dense_gelu(b, c, x);
}

ValueId self_layer(Builder& b, const Config& c, int layer, ValueId x, PositionEmbedding position, Mask mask) {
  return layer_around(b, c, layer, x, [&](ValueId n) { return self_attention(b, c, n, position, mask); });
}

ValueId retention_layer(Builder& b, const Config& c, int layer, ValueId x) {
  return layer_around(b, c, layer, x, [&](ValueId n) {
    auto scope = b.scope("retention");
    const int d = c.hidden_size;
    const int heads = retention_heads(c);
    const Init in = retention_init(c, d, d, Side::In);
    const auto project = [&](const char* name) { return b.linear(n, name, {d, "heads", "residual", in}); };
    const ValueId q = position_rows(b, c, project("q_proj"), heads, c.self_position_embedding);
    const ValueId k = position_rows(b, c, project("k_proj"), heads, c.self_position_embedding);
    const ValueId v = project("v_proj");
    const ValueId decay =
        b.linear(n, "decay_proj", {heads, "heads", "residual", retention_init(c, d, heads, Side::In)});
    ValueId y = b.retain(q, {k, v}, decay, heads, static_cast<float>(c.retention_temperature));
    y = b.head_norm(y, heads, static_cast<float>(c.rms_norm_eps));
    y = b.swiglu(project("g_proj"), y);
    return b.linear(y, "o_proj", {d, "residual", "heads", retention_init(c, d, d, Side::Out), 1});
  });
}

ValueId cross_layer(Builder& b, const Config& c, int layer, ValueId x, Kv shared,
                    PositionEmbedding position) {
  return layer_around(b, c, layer, x, [&](ValueId n) {
    auto scope = b.scope("cross_attn");
    return attend_to(b, c, cross_heads(c), n, shared, position, Mask{});
  });
}

Mask window_mask(const Config& c) { return Mask{c.sliding_window.value_or(0)}; }

}  // namespace onceover
