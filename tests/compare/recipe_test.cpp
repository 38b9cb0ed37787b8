#include "compare/recipe.h"

#include <gtest/gtest.h>

#include "support/errors.h"

namespace onceover {
namespace {

const std::string whole = R"(title = "Two"
seeds = [3, 1]
budgets = ["flops", "steps"]
reference = "B"
learning_rates = [1e-3, 2]
context = 512
[shape]
hidden_size = 32
[[model]]
name = "A"
architecture = "yoco-u"
loops = [1, 3]
rope_theta = 5e3
[[model]]
name = "B"
config = "yoco-tiny"
[base.data]
task = "swaps"
sequence_length = 32
[base.batch]
tokens = 64
micro_sequences = 2
[base.schedule]
steps = 7
)";

std::string reading(const std::string& text) {
  return error_of([&] { recipe_from_toml(text, "r.toml"); });
}

TEST(Recipe, IsReadFromToml) {
  const Recipe r = recipe_from_toml(whole, "r.toml");
  EXPECT_EQ(r.title, "Two");
  EXPECT_EQ(r.seeds, (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(r.budgets, (std::vector<Budget>{Budget::Flops, Budget::Steps}));
  EXPECT_EQ(r.reference, "B");
  EXPECT_EQ(r.learning_rates, (std::vector<double>{1e-3, 2}));
  EXPECT_EQ(r.context, 512);
  EXPECT_EQ(r.shape, nlohmann::json({{"hidden_size", 32}}));
  ASSERT_EQ(r.models.size(), 2U);
  EXPECT_EQ(r.models[0].loops, (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(r.models[0].keys, nlohmann::json({{"architecture", "yoco-u"}, {"rope_theta", 5e3}}));
  EXPECT_EQ(r.models[1].config, "yoco-tiny");
  EXPECT_EQ(r.base.data.task, DataTask::Swaps);
  EXPECT_EQ(r.base.schedule.steps, 7);
  EXPECT_NO_THROW(check_recipe(r));
}

TEST(Recipe, TellsTheNearestNameForAnUnknownOne) {
  EXPECT_EQ(reading("seed = [1]\n"), "r.toml: unknown key 'seed', did you mean 'seeds'?");
  EXPECT_EQ(reading("[base.schedul]\nsteps = 3\n"),
            "r.toml: base: unknown setting 'schedul.steps', did you mean 'schedule.steps'?");
}

TEST(Recipe, RefusesWrongTypesAndRanges) {
  EXPECT_EQ(reading("seeds = 1\n"), "r.toml: seeds must be a list of 1 to 1000 values, found 1");
  EXPECT_EQ(reading("seeds = []\n"), "r.toml: seeds must be a list of 1 to 1000 values, found []");
  EXPECT_EQ(reading("seeds = [1, 1]\n"), "r.toml: seeds holds 1 twice");
  EXPECT_TRUE(contains(reading("seeds = [-1]\n"), "seeds must be an integer from 0"));
  EXPECT_EQ(reading("budgets = [\"step\"]\n"),
            "r.toml: budgets must be \"steps\" or \"flops\", found 'step'");
  EXPECT_TRUE(contains(reading("learning_rates = [0]\n"), "must be a number above 0"));
  EXPECT_TRUE(contains(reading("learning_rates = [\"a\"]\n"), "must be a number above 0"));
  EXPECT_TRUE(contains(reading("context = 0\n"), "context must be an integer from 1"));
  EXPECT_TRUE(contains(reading("shape = 3\n"), "shape must be a section"));
  EXPECT_TRUE(contains(reading("[shape]\na = {b = 1}\n"), "shape.a must be a string, a number"));
  EXPECT_TRUE(contains(reading("[model]\nname = \"A\"\n"), "expected sections [[model]]"));
  EXPECT_TRUE(contains(reading("[[model]]\nloops = [1]\n"), "a [[model]] has no name"));
  EXPECT_TRUE(contains(reading("[[model]]\nname = \"A\"\nloops = [0]\n"), "'A': loops must be an integer"));
  EXPECT_TRUE(contains(reading("title = \n"), "r.toml:1: "));
  EXPECT_TRUE(contains(reading("title = \"\"\n"), "title must be a string of 1 to 200 bytes"));
  EXPECT_TRUE(contains(reading("[[model]]\nname = \"\\u001b\"\n"), "name must be a string"));
}

TEST(Recipe, MustFitTogether) {
  const auto fault = [](auto change) {
    Recipe r = recipe_from_toml(whole, "r.toml");
    change(r);
    return error_of([&] { check_recipe(r); });
  };
  EXPECT_EQ(fault([](Recipe& r) { r.models[1].name = "A"; }), "r.toml: two models are named 'A'");
  EXPECT_TRUE(contains(fault([](Recipe& r) { r.models.clear(); }), "[[model]], found none"));
  EXPECT_TRUE(contains(fault([](Recipe& r) { r.base.model.config = "yoco-tiny"; }), "base.model"));
  EXPECT_TRUE(contains(fault([](Recipe& r) { r.base.run.folder = "x"; }), "base.run.folder"));
  EXPECT_TRUE(contains(fault([](Recipe& r) { r.base.run.seed = 2; }), "`seeds`"));
  EXPECT_TRUE(contains(fault([](Recipe& r) { r.base.data.seed = 2; }), "`seeds`"));
  EXPECT_TRUE(contains(fault([](Recipe& r) { r.base.schedule.flops = 1; }), "base.schedule.flops"));
  EXPECT_TRUE(contains(fault([](Recipe& r) { r.base.schedule.steps = 0; }), "expected one budget"));
}

}  // namespace
}  // namespace onceover
