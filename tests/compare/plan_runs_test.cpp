#include "compare/plan_runs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "analysis/analysis.h"
#include "architectures/registry.h"
#include "compare/support.h"
#include "support/errors.h"

namespace onceover {
namespace {

ComparisonPlan plan_of(const Recipe& recipe) { return plan_comparison(recipe, testing::cpu_tools()); }

std::vector<std::string> names(const ComparisonPlan& plan) {
  std::vector<std::string> list;
  for (const auto& model : plan.models) list.push_back(model.name);
  return list;
}

TEST(PlanRuns, ADepthForEachOfAModelsLoops) {
  const ComparisonPlan plan = plan_of(testing::small_recipe());
  EXPECT_EQ(names(plan), (std::vector<std::string>{"plain", "deep T=1", "deep T=3"}));
  EXPECT_EQ(plan.models[2].config.num_loops, 3);
  EXPECT_EQ(plan.models[2].family, "deep");
  EXPECT_TRUE(plan.models[2].swept);
  EXPECT_FALSE(plan.models[0].swept);
  EXPECT_EQ(plan.models[1].parameters.total, plan.models[2].parameters.total);
}

TEST(PlanRuns, TheVocabularyIsThatOfTheTokensUnlessTheRecipeSaysMore) {
  Recipe recipe = testing::small_recipe();
  EXPECT_EQ(plan_of(recipe).models[0].config.vocab_size, 3 + 3);
  recipe.shape["vocab_size"] = 100;
  recipe.models[1].keys["vocab_size"] = 120;
  EXPECT_EQ(plan_of(recipe).models[0].config.vocab_size, 100);
  EXPECT_EQ(plan_of(recipe).models[1].config.vocab_size, 120);
}

TEST(PlanRuns, EqualFlopsAreWithinHalfAStepOfTheReference) {
  Recipe recipe = testing::small_recipe();
  recipe.base.schedule.steps = 400;
  const ComparisonPlan plan = plan_of(recipe);
  const double spent = 400 * plan.models[plan.reference].flops_per_step;
  std::set<size_t> seen;
  for (const PlannedRun& run : plan.runs) {
    const ComparedModel& model = plan.models[run.model];
    EXPECT_DOUBLE_EQ(run.flops, model.flops_per_step * static_cast<double>(run.settings.schedule.steps));
    if (run.answers(Budget::Steps)) {
      EXPECT_EQ(run.settings.schedule.steps, 400);
    }
    if (!run.answers(Budget::Flops)) continue;
    seen.insert(run.model);
    const bool shared = run.answers(Budget::Steps);
    EXPECT_LE(std::abs(run.flops - spent), shared ? 0.01 * spent : 0.5 * model.flops_per_step) << run.name;
  }
  EXPECT_EQ(seen.size(), 3U);
}

// Counted here from the plan: three forward passes over the tokens of a step.
TEST(PlanRuns, FlopsAreThoseOfThePlan) {
  const ComparisonPlan plan = plan_of(testing::small_recipe());
  for (const ComparedModel& model : plan.models) {
    const Plan built = build(model.config);
    const double sequence = cost(built, analyse(built, LogitRows::Every), 0, 16, 16).flops.total();
    EXPECT_NEAR(model.flops_per_step / (3 * 4 * sequence), 1, 1e-9) << model.name;
  }
  EXPECT_GT(plan.models[2].flops_per_step, 1.5 * plan.models[1].flops_per_step);
}

TEST(PlanRuns, NoRunIsTrainedTwice) {
  const ComparisonPlan plan = plan_of(testing::small_recipe());
  std::set<std::string> folders;
  for (const PlannedRun& run : plan.runs) EXPECT_TRUE(folders.insert(run.name).second) << run.name;
  const auto shared = [&](const std::string& name) {
    for (const PlannedRun& run : plan.runs) {
      if (run.name == name) return run.budgets.size() == 2;
    }
    return false;
  };
  EXPECT_TRUE(shared("plain-6-steps-seed-1"));
  EXPECT_FALSE(shared("deep-t-3-6-steps-seed-1"));
}

TEST(PlanRuns, SeedsSetWeightsAndTheOrderOfTheData) {
  for (const PlannedRun& run : plan_of(testing::small_recipe()).runs) {
    EXPECT_EQ(run.settings.run.seed, run.settings.data.seed);
    EXPECT_TRUE(run.name.ends_with(std::to_string(run.settings.run.seed)));
  }
}

TEST(PlanRuns, LearningRatesMultiplyTheRuns) {
  Recipe recipe = testing::small_recipe();
  const size_t before = plan_of(recipe).runs.size();
  recipe.learning_rates = {1e-3, 3e-3};
  const ComparisonPlan plan = plan_of(recipe);
  EXPECT_EQ(plan.runs.size(), 2 * before);
  EXPECT_EQ(plan.runs[0].name.substr(0, 24), "plain-6-steps-rate-0.001");
}

TEST(PlanRuns, TheCheapestModelIsTheReferenceUnlessOneIsNamed) {
  Recipe recipe = testing::small_recipe();
  EXPECT_EQ(plan_of(recipe).reference, 0U);
  recipe.reference.clear();
  const ComparisonPlan plan = plan_of(recipe);
  for (const ComparedModel& model : plan.models)
    EXPECT_GE(model.flops_per_step, plan.models[plan.reference].flops_per_step);
  recipe.reference = "plan";
  EXPECT_TRUE(contains(error_of([&] { plan_of(recipe); }), "'plan' is no model, did you mean 'plain'?"));
}

TEST(PlanRuns, NameTheModelWhoseConfigIsFaulty) {
  Recipe recipe = testing::small_recipe();
  recipe.models[0].keys["num_loop"] = 3;
  EXPECT_TRUE(contains(error_of([&] { plan_of(recipe); }),
                       "small.toml: model 'plain': unknown key 'num_loop', did you mean 'num_loops'?"));
  recipe = testing::small_recipe();
  recipe.models[0].loops = {2};
  EXPECT_TRUE(contains(error_of([&] { plan_of(recipe); }), "model 'plain T=2': key 'num_loops' means"));
  recipe = testing::small_recipe();
  recipe.models[0].config = "transformer";
  EXPECT_TRUE(contains(error_of([&] { plan_of(recipe); }), "one of config and architecture"));
}

TEST(PlanRuns, AModelMayStartFromANamedConfig) {
  Recipe recipe = testing::small_recipe();
  recipe.models[0].keys.erase("architecture");
  recipe.models[0].config = "universal";
  const Config config = plan_of(recipe).models[0].config;
  EXPECT_EQ(config.num_loops, 2);
  EXPECT_EQ(config.bos_token_id, 1);
  EXPECT_EQ(config.hidden_size, 16);
}

TEST(PlanRuns, NamesThatWouldShareAFolderAreRefused) {
  Recipe recipe = testing::small_recipe();
  recipe.models[1].name = "plain!";
  recipe.models[1].loops.clear();
  EXPECT_TRUE(contains(error_of([&] { plan_of(recipe); }), "would share the folder plain-6-steps-seed-1"));
}

}  // namespace
}  // namespace onceover
