// The parts that architectures are made of: attention, feed-forward, the two kinds of layer, embedding and
// head.
//
// Each records steps in the builder's current scope and returns the value it ends in. Shapes: a residual
// value is [rows, hidden_size]; keys and values are [rows, num_key_value_heads * head_dim].
#pragma once
#include "architectures/config.h"
#include "plan/builder.h"

namespace onceover {

// Heads of an attention, all of one width.
struct Heads {
  int query, kv, dim;
};
Heads self_heads(const Config& c);   // of the self-decoder of YOCO, else of every layer
Heads cross_heads(const Config& c);  // of the cross-decoder

ValueId norm_rows(Builder& b, const Config& c, ValueId x, std::string_view name);

ValueId embed_tokens(Builder& b, const Config& c);
void head(Builder& b, const Config& c, ValueId x);         // logits, by the embedding table when tied
void output_head(Builder& b, const Config& c, ValueId x);  // final norm, then logits

// k_proj and v_proj of x, with the position embedding on k.
Kv project_kv(Builder& b, const Config& c, const Heads& heads, ValueId x, PositionEmbedding position);

// q_proj of x, attention over kv, o_proj.
ValueId attend_to(Builder& b, const Config& c, const Heads& heads, ValueId x, Kv kv,
                  PositionEmbedding position, Mask mask);

// The same with keys and values of x itself, in the scope self_attn.
ValueId self_attention(Builder& b, const Config& c, ValueId x, PositionEmbedding position, Mask mask);

// The kind of config.feed_forward, or routed experts when the config has them; in the scope mlp.
ValueId feed_forward(Builder& b, const Config& c, ValueId x);

// One pre-norm layer around `mix`: x + mix(norm(x)), then + feed_forward(norm(.)), of the sum or, in
// parallel, of x.
template <class MixRows>
ValueId layer_around(Builder& b, const Config& c, int layer, ValueId x, MixRows mix) {
  auto scope = b.scope("layers." + std::to_string(layer));
  const ValueId mixed = b.add(x, mix(norm_rows(b, c, x, "input_layernorm")));
  const ValueId read = c.use_parallel_residual ? x : mixed;
  return b.add(mixed, feed_forward(b, c, norm_rows(b, c, read, "post_attention_layernorm")));
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
