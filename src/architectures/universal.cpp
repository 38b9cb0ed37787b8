// Universal Transformer as the looped baseline of arXiv 2604.01220: the whole stack, applied `loops` times
// with the same weights. No step signal and no halting, as in that paper's comparison.
#include "architectures/architectures.h"
#include "architectures/blocks.h"

namespace onceover {

void universal(Builder& b, const Config& c, int loops) {
  ValueId x = embed_tokens(b, c);
  for (int t = 0; t < loops; t++) {
    b.loop(t);
    for (int l = 0; l < c.num_hidden_layers; l++) {
      x = self_layer(b, c, l, x, c.self_position_embedding, window_mask(c));
    }
  }
  b.loop(0);
  output_head(b, c, x);
}

}  // namespace onceover
