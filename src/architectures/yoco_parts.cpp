#include "architectures/yoco_parts.h"

namespace onceover {

Kv global_kv(Builder& b, const Config& c, ValueId x) {
  auto scope = b.scope("cross_kv");
  return project_kv(b, c, cross_heads(c), norm_rows(b, c, x, "norm"), c.cross_position_embedding);
}

ValueId cross_decoder(Builder& b, const Config& c, ValueId x, Kv shared) {
  for (int l = self_layers(c); l < c.num_hidden_layers; l++) {
    x = cross_layer(b, c, l, x, shared, c.cross_position_embedding);
  }
  return x;
}

}  // namespace onceover
