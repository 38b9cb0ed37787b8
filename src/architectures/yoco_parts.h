// What the YOCO family shares: where the self-decoder ends, and the one global cache.
#pragma once
#include "architectures/blocks.h"

namespace onceover {

inline int self_layers(const Config& c) {
  return c.num_self_layers > 0 ? c.num_self_layers : c.num_hidden_layers / 2;
}

// K̂ = norm(x) W_K, V̂ = norm(x) W_V: projected once, read by every cross layer.
Kv global_kv(Builder& b, const Config& c, ValueId x);

// The cross-decoder from layer self_layers(c) on.
ValueId cross_decoder(Builder& b, const Config& c, ValueId x, Kv shared);

}  // namespace onceover
