// RINS (arXiv 2502.07503): f_B(f_A^r(x)), the early layers A applied r times, the later layers B once.
#include "architectures/architectures.h"
#include "architectures/blocks.h"

namespace onceover {

void rins(Builder& b, const Config& c, int loops) {
  const int recursed = c.num_recursed_layers > 0 ? c.num_recursed_layers : c.num_hidden_layers / 2;
  ValueId x = embed_tokens(b, c);
  const auto layer = [&](int l) { return self_layer(b, c, l, x, c.self_position_embedding, window_mask(c)); };
  for (int t = 0; t < loops; t++) {
    b.loop(t);
    for (int l = 0; l < recursed; l++) x = layer(l);
  }
  b.loop(0);
  for (int l = recursed; l < c.num_hidden_layers; l++) x = layer(l);
  output_head(b, c, x);
}

}  // namespace onceover
