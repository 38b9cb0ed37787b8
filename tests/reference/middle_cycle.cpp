#include "middle_cycle.h"

// [page: function]
// Middle-Cycle sharing of Mixture-of-Recursions (arXiv 2507.10524), without its routing: the first and the
// last layer run once, the layers between them `loops` times with the same weights.
#include "architectures/architectures.h"
#include "architectures/blocks.h"

namespace onceover {

void middle_cycle(Builder& b, const Config& c, int loops) {
  ValueId x = embed_tokens(b, c);
  const auto layer = [&](int l) { return self_layer(b, c, l, x, c.self_position_embedding, window_mask(c)); };
  x = layer(0);
  for (int t = 0; t < loops; t++) {
    b.loop(t);
    for (int l = 1; l < c.num_hidden_layers - 1; l++) x = layer(l);
  }
  b.loop(0);
  x = layer(c.num_hidden_layers - 1);
  output_head(b, c, x);
}

}  // namespace onceover
// [page: end]

namespace onceover::test {
namespace {

// [page: defaults]
void middle_cycle_defaults(Config& c) { c.num_loops = 2; }
// [page: end]

}  // namespace

const Architecture& middle_cycle_entry() {
  static const std::vector<Architecture> table = {
      // [page: entry]
      {"middle-cycle",
       "first and last layer once, the layers between them looped (Middle-Cycle)",
       middle_cycle,
       middle_cycle_defaults,
       {"sliding_window", "self_position_embedding", "num_loops"}},
      // [page: end]
  };
  return table[0];
}

Model middle_cycle_model() {
  Config config = tiny_config("transformer");
  config.architecture = middle_cycle_entry().name;
  middle_cycle_entry().defaults(config);
  Builder builder;
  middle_cycle_entry().record(builder, config, config.num_loops);
  return {"middle_cycle", config, config.num_loops, builder.finish()};
}

}  // namespace onceover::test
