// Ouro (LoopLM, arXiv 2510.25741): the whole stack applied `loops` times; RMSNorm before and behind attention
// and feed-forward (ByteDance's published code); the final norm ends every iteration and feeds the next, the
// head, and a gate. The gate's logit is how likely the model would stop there: nothing reads it, and the head
// reads the last iteration, which is the published default (early_exit_threshold 1).
#include "architectures/architectures.h"
#include "architectures/blocks.h"

namespace onceover {
namespace {

ValueId sandwich_layer(Builder& b, const Config& c, int layer, ValueId x) {
  auto scope = b.scope("layers." + std::to_string(layer));
  const ValueId mixed =
      self_attention(b, c, norm_rows(b, c, x, "input_layernorm"), c.self_position_embedding, window_mask(c));
  x = b.add(x, norm_rows(b, c, mixed, "input_layernorm_2"));
  const ValueId fed = feed_forward(b, c, norm_rows(b, c, x, "post_attention_layernorm"));
  return b.add(x, norm_rows(b, c, fed, "post_attention_layernorm_2"));
}

}  // namespace

void ouro(Builder& b, const Config& c, int loops) {
  ValueId x = embed_tokens(b, c);
  for (int t = 0; t < loops; t++) {
    b.loop(t);
    for (int l = 0; l < c.num_hidden_layers; l++) x = sandwich_layer(b, c, l, x);
    x = norm_rows(b, c, x, "norm");
    b.linear(x, "early_exit_gate", {1, "", "residual", Init::normal(c.initializer_range), 0, true});
  }
  b.loop(0);
  head(b, c, x);
}

}  // namespace onceover
