// The two ablations of arXiv 2604.01220 Table 5 that loop the upper half instead: the self-decoder runs once,
// the upper layers `loops` times, either all reading the one global cache or each with full attention and a
// cache of its own.
#include "architectures/architectures.h"
#include "architectures/yoco_parts.h"

namespace onceover {
namespace {

ValueId self_decoder(Builder& b, const Config& c) {
  ValueId x = embed_tokens(b, c);
  for (int l = 0; l < self_layers(c); l++) {
    x = self_layer(b, c, l, x, c.self_position_embedding, window_mask(c));
  }
  return x;
}

}  // namespace

void yoco_upper_loop(Builder& b, const Config& c, int loops) {
  ValueId x = self_decoder(b, c);
  const Kv shared = global_kv(b, c, x);
  for (int t = 0; t < loops; t++) {
    b.loop(t);
    x = cross_decoder(b, c, x, shared);
  }
  b.loop(0);
  output_head(b, c, x);
}

void yoco_upper_loop_unshared(Builder& b, const Config& c, int loops) {
  ValueId x = self_decoder(b, c);
  for (int t = 0; t < loops; t++) {
    b.loop(t);
    for (int l = self_layers(c); l < c.num_hidden_layers; l++) {
      x = self_layer(b, c, l, x, c.cross_position_embedding, Mask{});
    }
  }
  b.loop(0);
  output_head(b, c, x);
}

}  // namespace onceover
