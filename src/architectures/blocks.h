// The parts that architectures are made of: attention, feed-forward, the two kinds of layer, embedding and
// head.
//
// Each records steps in the builder's current scope and returns the value it ends in. Shapes: a residual
// value is [rows, hidden_size]; keys and values are [rows, num_key_value_heads * head_dim].
#pragma once
#include "architectures/config.h"
#include "plan/builder.h"

namespace onceover {

ValueId embed_tokens(Builder& b, const Config& c);
void output_head(Builder& b, const Config& c, ValueId x);  // final norm, then logits

// k_proj and v_proj of x, with the position embedding on k.
Kv project_kv(Builder& b, const Config& c, ValueId x, PositionEmbedding position);

// q_proj of x, attention over kv, o_proj.
ValueId attend_to(Builder& b, const Config& c, ValueId x, Kv kv, PositionEmbedding position, Mask mask);

// SwiGLU, or routed experts when the config has them.
ValueId feed_forward(Builder& b, const Config& c, ValueId x);

// One pre-norm layer around `mix`: x + mix(norm(x)), then + feed_forward(norm(.)).
template <class MixRows>
ValueId layer_around(Builder& b, const Config& c, int layer, ValueId x, MixRows mix) {
  auto scope = b.scope("layers." + std::to_string(layer));
  x = b.add(x, mix(b.norm(x, "input_layernorm", static_cast<float>(c.rms_norm_eps))));
  return b.add(x,
               feed_forward(b, c, b.norm(x, "post_attention_layernorm", static_cast<float>(c.rms_norm_eps))));
}

// A layer with its own keys and values.
ValueId self_layer(Builder& b, const Config& c, int layer, ValueId x, PositionEmbedding position, Mask mask);

// A layer whose rows mix by gated retention.
ValueId retention_layer(Builder& b, const Config& c, int layer, ValueId x);

// A layer that reads keys and values made elsewhere.
ValueId cross_layer(Builder& b, const Config& c, int layer, ValueId x, Kv shared, PositionEmbedding position);

// The window of config.sliding_window; every earlier row when absent.
Mask window_mask(const Config& c);

}  // namespace onceover
