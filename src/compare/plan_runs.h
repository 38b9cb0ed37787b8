// From a recipe to the runs that answer it: one for each model, budget, learning rate and seed, but none
// twice.
//
// Equal steps: every model takes the steps of the base settings. Equal FLOPs: every model takes the steps
// whose FLOPs, counted from its plan (train/trainer.h), come nearest to those of the reference at the base's
// steps; where that is within 1% of the base's steps, one run answers both.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analysis/cost.h"
#include "architectures/config.h"
#include "compare/recipe.h"
#include "execution/training_executor.h"
#include "train/job.h"

namespace onceover {

// What a comparison is given from outside: how to find and train a model.
struct ComparisonTools {
  std::string executor;                                 // what trains, "torch on cuda:0"
  std::function<int(const TrainSettings&)> vocab_size;  // of the tokens that settings name
  std::function<Config(const std::string& name)> find_model;
  std::function<TrainingJob(const Config&, const TrainSettings&, const std::string& where)> make_job;
  std::function<std::unique_ptr<TrainingExecutor>(const TrainedModel&, const TrainSettings&)> make_executor;
};

struct ComparedModel {
  std::string name;
  std::string family;  // the name before a depth was added to it
  bool swept = false;  // one of several depths
  Config config;
  ParameterCount parameters;
  int64_t kv_elements = 0;  // state of one sequence at the recipe's context
  double flops_per_step = 0;
  TrainedModel trained;
};

struct PlannedRun {
  std::string name;  // also of its folder
  size_t model = 0;
  std::vector<Budget> budgets;  // that it answers
  double flops = 0;
  TrainSettings settings;  // complete but for run.folder

  bool answers(Budget budget) const;
};

struct ComparisonPlan {
  Recipe recipe;
  std::vector<ComparedModel> models;
  size_t reference = 0;
  std::vector<PlannedRun> runs;  // all models of the first seed, then of the next
};

// Error, naming the recipe and the model, for a config that does not fit, and for an unknown reference.
ComparisonPlan plan_comparison(const Recipe& recipe, const ComparisonTools& tools);

}  // namespace onceover
