// YOCO++ (arXiv 2604.13556): every self layer but the first mixes the first one's keys and values into its
// own,
//   K_i <- λ (a_i K_0 + b_i K_i),  V_i <- λ (c_i V_0 + d_i V_i),  a, c = 0 and b, d = 1/λ at the start (then
//   it is YOCO),
// and caches the mix. As published, self layers attend to everything and the cross layers read the last self
// layer's cache; sliding_window, num_loops and cross_kv combine it with YOCO-U.
#include <fmt/format.h>

#include "architectures/architectures.h"
#include "architectures/yoco_parts.h"

namespace onceover {
namespace {

Kv mix_in(Builder& b, const Config& c, Kv first, Kv own, int iteration) {
  const std::string suffix = c.kv_residual_per_loop ? fmt::format(".{}", iteration) : "";
  const auto scale = static_cast<float>(c.kv_residual_scale);
  return {b.mix(first.k, own.k, "key_weight" + suffix, scale),
          b.mix(first.v, own.v, "value_weight" + suffix, scale)};
}

}  // namespace

void yoco_plus(Builder& b, const Config& c, int loops) {
  ValueId x = embed_tokens(b, c);
  Kv first, last;
  for (int t = 0; t < loops; t++) {
    b.loop(t);
    for (int l = 0; l < self_layers(c); l++) {
      x = layer_around(b, c, l, x, [&](ValueId n) {
        auto scope = b.scope("self_attn");
        last = project_kv(b, c, self_heads(c), n, c.self_position_embedding);
        if (l > 0)
          last = mix_in(b, c, first, last, t);
        else if (t == 0 || c.kv_residual_source == ResidualSource::SameLoop)
          first = last;
        return attend_to(b, c, self_heads(c), n, last, c.self_position_embedding, window_mask(c));
      });
    }
  }
  b.loop(0);
  output_head(b, c, cross_decoder(b, c, x, c.cross_kv == CrossKv::LastLayer ? last : global_kv(b, c, x)));
}

}  // namespace onceover
