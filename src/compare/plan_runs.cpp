#include "compare/plan_runs.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "analysis/analysis.h"
#include "base/error.h"
#include "base/text.h"
#include "train/trainer.h"

namespace onceover {
namespace {

using Json = nlohmann::json;

void take_over(Json& into, const Json& keys) {
  for (const auto& [key, value] : keys.items()) into[key] = value;
}

// Later ones win: the named config, the vocabulary of the tokens, the shared shape, the model's own keys.
Json config_keys_of(const Recipe& recipe, const Recipe::Model& model, int vocab_size,
                    const ComparisonTools& tools, const std::string& where) {
  Json keys = Json::object();
  if (!model.config.empty()) {
    if (model.keys.contains("architecture"))
      throw Error("{}: expected one of config and architecture, found both", where);
    keys = Json(config_to_json(tools.find_model(model.config)));
  }
  keys["vocab_size"] = vocab_size;
  take_over(keys, recipe.shape);
  take_over(keys, model.keys);
  return keys;
}

ComparedModel describe(const Recipe& recipe, const std::string& name, const std::string& family,
                       const Json& keys, const ComparisonTools& tools) {
  const std::string where = fmt::format("{}: model '{}'", recipe.where, name);
  ComparedModel model;
  model.name = name;
  model.family = family;
  model.swept = name != family;
  TrainSettings settings = recipe.base;
  TrainingJob job = tools.make_job(config_from_json(keys, where), settings, where);
  model.trained = std::move(job.model);
  model.config = config_from_text(model.trained.config_json, where);
  const auto plan = model.trained.plan(model.trained.loops);
  model.parameters = count_parameters(*plan);
  model.kv_elements = analyse(*plan).state_elements(recipe.context);
  settings.schedule.tokens = 0;
  settings.schedule.steps = 1;
  model.flops_per_step = planned_flops(settings, model.trained);
  return model;
}

void add_models(const Recipe& recipe, const Recipe::Model& model, int vocab_size,
                const ComparisonTools& tools, std::vector<ComparedModel>& models) {
  const std::string where = fmt::format("{}: model '{}'", recipe.where, model.name);
  Json keys = config_keys_of(recipe, model, vocab_size, tools, where);
  if (model.loops.empty()) return models.push_back(describe(recipe, model.name, model.name, keys, tools));
  for (const int64_t loops : model.loops) {
    keys["num_loops"] = loops;
    models.push_back(describe(recipe, fmt::format("{} T={}", model.name, loops), model.name, keys, tools));
  }
}

size_t find_reference(const Recipe& recipe, const std::vector<ComparedModel>& models) {
  std::vector<std::string> names;
  for (const auto& model : models) names.push_back(model.name);
  if (recipe.reference.empty()) {
    const auto cheaper = [](const auto& a, const auto& b) { return a.flops_per_step < b.flops_per_step; };
    return static_cast<size_t>(std::min_element(models.begin(), models.end(), cheaper) - models.begin());
  }
  const auto found = std::find(names.begin(), names.end(), recipe.reference);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  throw Error("{}: reference '{}' is no model{}; expected one of {}", recipe.where, recipe.reference,
              did_you_mean(recipe.reference, names), fmt::join(names, ", "));
}

// Letters, digits and single hyphens; "+" becomes "plus".
std::string folder_name(const std::string& name) {
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && std::isalnum(byte)) {
      out += static_cast<char>(std::tolower(byte));
    } else if (c == '+') {
      out += "plus";
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  if (out.ends_with('-')) out.pop_back();
  return out;
}

int64_t steps_of(const ComparisonPlan& plan, size_t model, Budget budget) {
  const int64_t base = planned_steps(plan.recipe.base, plan.models[model].trained);
  if (budget == Budget::Steps) return base;
  const double flops = plan.models[plan.reference].flops_per_step * static_cast<double>(base);
  const double steps = std::round(flops / plan.models[model].flops_per_step);
  const bool same = std::abs(steps / static_cast<double>(base) - 1) < 0.01;
  return same ? base : std::max<int64_t>(1, static_cast<int64_t>(steps));
}

PlannedRun planned_run(const ComparisonPlan& plan, size_t model, int64_t steps, double learning_rate,
                       int64_t seed) {
  PlannedRun run;
  run.model = model;
  run.settings = plan.recipe.base;
  run.settings.schedule.tokens = 0;
  run.settings.schedule.steps = steps;
  run.settings.optimiser.learning_rate = learning_rate;
  run.settings.run.seed = run.settings.data.seed = seed;
  run.flops = plan.models[model].flops_per_step * static_cast<double>(steps);
  run.name = fmt::format("{}-{}-steps", folder_name(plan.models[model].name), steps);
  if (plan.recipe.learning_rates.size() > 1) run.name += fmt::format("-rate-{}", learning_rate);
  run.name += fmt::format("-seed-{}", seed);
  return run;
}

void add_run(ComparisonPlan& plan, PlannedRun run, Budget budget) {
  for (auto& known : plan.runs) {
    if (known.name != run.name) continue;
    if (known.model != run.model) {
      throw Error("{}: models '{}' and '{}' would share the folder {}; expected names that differ more",
                  plan.recipe.where, plan.models[known.model].name, plan.models[run.model].name, run.name);
    }
    return known.budgets.push_back(budget);
  }
  run.budgets = {budget};
  plan.runs.push_back(std::move(run));
}

}  // namespace

bool PlannedRun::answers(Budget budget) const {
  return std::find(budgets.begin(), budgets.end(), budget) != budgets.end();
}

ComparisonPlan plan_comparison(const Recipe& recipe, const ComparisonTools& tools) {
  check_recipe(recipe);
  ComparisonPlan plan;
  plan.recipe = recipe;
  if (plan.recipe.learning_rates.empty()) plan.recipe.learning_rates = {recipe.base.optimiser.learning_rate};
  const int vocab_size = tools.vocab_size(recipe.base);
  for (const auto& model : recipe.models) add_models(recipe, model, vocab_size, tools, plan.models);
  plan.reference = find_reference(recipe, plan.models);
  for (const int64_t seed : recipe.seeds) {
    for (size_t model = 0; model < plan.models.size(); model++) {
      for (const double rate : plan.recipe.learning_rates) {
        for (const Budget budget : recipe.budgets) {
          add_run(plan, planned_run(plan, model, steps_of(plan, model, budget), rate, seed), budget);
        }
      }
    }
  }
  return plan;
}

}  // namespace onceover
