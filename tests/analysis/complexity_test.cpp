#include "analysis/complexity.h"

#include <gtest/gtest.h>

#include "analysis/plans.h"

namespace onceover {
namespace {

using Kind = Retention::Kind;

PlanFamily family(const std::string& name) {
  return [name](const PlanSize& size) {
    Config c = *find_preset(name + "-tiny");
    c.num_hidden_layers = size.layers;
    c.hidden_size = size.width;
    c.head_dim = 64;
    c.num_attention_heads = c.num_key_value_heads = size.width / 64;
    if (c.sliding_window) c.sliding_window = size.window;
    if (c.num_loops > 1) c.num_loops = size.loops;
    return build(c);
  };
}

struct Expected {
  Kind part;
  int tokens;
  double layers, loops, window, width;
};

// Holds the highest power of N of each part against `expected`.
void expect_growth(const std::vector<Growth>& growths, const std::vector<Expected>& expected) {
  std::vector<Growth> leading;
  for (const Growth& g : growths) {
    if (leading.empty() || leading.back().part != g.part) leading.push_back(g);
  }
  ASSERT_EQ(leading.size(), expected.size());
  for (size_t i = 0; i < expected.size(); i++) {
    constexpr double tolerance = 1e-6;
    EXPECT_EQ(leading[i].part, expected[i].part);
    EXPECT_EQ(leading[i].tokens, expected[i].tokens);
    EXPECT_NEAR(leading[i].layers, expected[i].layers, tolerance);
    EXPECT_NEAR(leading[i].loops, expected[i].loops, tolerance);
    EXPECT_NEAR(leading[i].window, expected[i].window, tolerance);
    EXPECT_NEAR(leading[i].width, expected[i].width, tolerance);
    EXPECT_LT(leading[i].residual, tolerance);
  }
}

TEST(Complexity, TransformerAndUniversalGrowAsTheTableSays) {
  for (const auto& [name, loops] : {std::pair{"transformer", 0.0}, {"universal", 1.0}}) {
    SCOPED_TRACE(name);
    const Complexity c = fit_complexity(family(name));
    expect_growth(c.state_elements, {{Kind::Every, 1, 1, loops, 0, 1}});
    expect_growth(c.prefill_flops, {{Kind::Every, 2, 1, loops, 0, 1}});
    expect_growth(c.decode_flops, {{Kind::Every, 1, 1, loops, 0, 1}});
    expect_growth(c.decode_reads, {{Kind::Every, 1, 1, loops, 0, 1}});
  }
}

TEST(Complexity, YocoAndItsLoopGrowAsTheTableSays) {
  for (const auto& [name, loops] : {std::pair{"yoco", 0.0}, {"yoco-u", 1.0}}) {
    SCOPED_TRACE(name);
    const Complexity c = fit_complexity(family(name));
    expect_growth(c.state_elements, {{Kind::Every, 1, 0, 0, 0, 1}, {Kind::Window, 0, 1, loops, 1, 1}});
    expect_growth(c.prefill_flops, {{Kind::Every, 1, 1, 0, 0, 1}, {Kind::Window, 1, 1, loops, 1, 1}});
    expect_growth(c.decode_flops, {{Kind::Every, 1, 1, 0, 0, 1}, {Kind::Window, 0, 1, loops, 1, 1}});
    expect_growth(c.decode_reads, {{Kind::Every, 1, 1, 0, 0, 1}, {Kind::Window, 0, 1, loops, 1, 1}});
  }
}

TEST(Complexity, CoefficientsAreThoseOfTheSmallestPlan) {
  // Keys and values of 8 layers of width 256; the prefill's quadratic half of 7 full layers, the last runs
  // one row.
  const Complexity c = fit_complexity(family("transformer"));
  EXPECT_EQ(c.state_elements[0].coefficient, 8 * 2 * 256);
  EXPECT_NEAR(c.prefill_flops[0].coefficient, 7 * 4 * 256 / 2.0, 1e-6);
}

}  // namespace
}  // namespace onceover
