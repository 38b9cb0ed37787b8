#include "architectures/yoco_parts.h"

namespace onceover {

Kv global_kv(Builder& b, const Config& c, ValueId x) {
  auto scope = b.scope("cross_kv");
  return project_kv(b, c, b.norm(x, "norm", static_cast<float>(c.rms_norm_eps)), c.cross_position_embedding);
}

ValueId cross_decoder(Builder& b, const Config& c, ValueId x, Kv shared) {
  for (int l = self_layers(c); l < c.num_hidden_layers; l++) {
    x = cross_layer(b, c, l, x, shared, c.cross_position_embedding);
  }
  return x;
}

}  // namespace onceover
