// YOCO (arXiv 2405.05254 eq. 1-3) and YOCO-U (arXiv 2604.01220 eq. 1-4): a self-decoder of windowed attention
// or gated retention writes one global KV cache, a cross-decoder reads it. YOCO-U applies the self-decoder
// `loops` times with the same weights; nothing is injected and nothing normalised between iterations. One
// loop is YOCO.
#include "architectures/architectures.h"
#include "architectures/yoco_parts.h"

namespace onceover {

void yoco_u(Builder& b, const Config& c, int loops) {
  ValueId x = embed_tokens(b, c);
  for (int t = 0; t < loops; t++) {
    b.loop(t);
    for (int l = 0; l < self_layers(c); l++) {
      x = c.self_mixer == Mixer::Retention
              ? retention_layer(b, c, l, x)
              : self_layer(b, c, l, x, c.self_position_embedding, window_mask(c));
    }
  }
  b.loop(0);
  output_head(b, c, cross_decoder(b, c, x, global_kv(b, c, x)));
}

}  // namespace onceover
