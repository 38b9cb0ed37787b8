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

ValueId position_rows(Builder& b, const Config& c, ValueId x, int heads, PositionEmbedding position) {
  return position == PositionEmbedding::Rope ? b.rope(x, heads, c.rope_theta) : x;
}

ValueId dense_swiglu(Builder& b, const Config& c, ValueId x, int ffn) {
  const Init in = linear_init(c, c.hidden_size, Side::In);
  const ValueId gate = b.linear(x, "gate_proj", {ffn, "ffn", "residual", in});
  const ValueId up = b.linear(x, "up_proj", {ffn, "ffn", "residual", in});
  const Init out = linear_init(c, ffn, Side::Out);
  return b.linear(b.swiglu(gate, up), "down_proj", {c.hidden_size, "residual", "ffn", out, 1});
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

ValueId embed_tokens(Builder& b, const Config& c) {
  return b.embed("embed_tokens", c.vocab_size, c.hidden_size, embedding_init(c),
                 static_cast<float>(c.embedding_scale));
}

void output_head(Builder& b, const Config& c, ValueId x) {
  x = b.norm(x, "norm", static_cast<float>(c.rms_norm_eps));
  const char* name = c.tie_word_embeddings ? "model.embed_tokens.weight" : "lm_head.weight";
  b.logits(x, name, c.vocab_size, embedding_init(c));
}

Kv project_kv(Builder& b, const Config& c, ValueId x, PositionEmbedding position) {
  const int width = c.num_key_value_heads * c.head_dim;
  const Init init = linear_init(c, c.hidden_size, Side::In);
  const ValueId k = b.linear(x, "k_proj", {width, "kv", "residual", init});
  const ValueId v = b.linear(x, "v_proj", {width, "kv", "residual", init});
  return {position_rows(b, c, k, c.num_key_value_heads, position), v};
}

ValueId attend_to(Builder& b, const Config& c, ValueId x, Kv kv, PositionEmbedding position, Mask mask) {
  const int width = c.num_attention_heads * c.head_dim;
  ValueId q = b.linear(x, "q_proj", {width, "heads", "residual", linear_init(c, c.hidden_size, Side::In)});
  q = position_rows(b, c, q, c.num_attention_heads, position);
  const ValueId y = b.attend(q, kv, c.num_attention_heads, c.num_key_value_heads, mask);
  return b.linear(y, "o_proj", {c.hidden_size, "residual", "heads", linear_init(c, width, Side::Out), 1});
}

ValueId feed_forward(Builder& b, const Config& c, ValueId x) {
  auto scope = b.scope("mlp");
  return c.num_experts > 0 ? routed_swiglu(b, c, x) : dense_swiglu(b, c, x, c.intermediate_size);
}

ValueId self_layer(Builder& b, const Config& c, int layer, ValueId x, PositionEmbedding position, Mask mask) {
  return layer_around(b, c, layer, x, [&](ValueId n) {
    auto scope = b.scope("self_attn");
    return attend_to(b, c, n, project_kv(b, c, n, position), position, mask);
  });
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
    return attend_to(b, c, n, shared, position, Mask{});
  });
}

Mask window_mask(const Config& c) { return Mask{c.sliding_window.value_or(0)}; }

}  // namespace onceover
