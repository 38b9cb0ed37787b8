// The decoder-only Transformer in its Llama form: pre-norm, rotary positions, SwiGLU, grouped heads. With
// sliding_window every layer is windowed.
#include "architectures/architectures.h"
#include "architectures/blocks.h"

namespace onceover {

void transformer(Builder& b, const Config& c, int /*loops*/) {
  ValueId x = embed_tokens(b, c);
  for (int l = 0; l < c.num_hidden_layers; l++) {
    x = self_layer(b, c, l, x, c.self_position_embedding, window_mask(c));
  }
  output_head(b, c, x);
}

}  // namespace onceover
