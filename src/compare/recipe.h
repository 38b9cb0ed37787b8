// What is compared: models, seeds, budgets, and the training settings that all of them share.
//
// A recipe is an untrusted TOML file: an unknown key, a wrong type and a value out of range are Errors that
// name the file, the key and the nearest known one. docs/comparing.md describes every key.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "train/settings.h"

namespace onceover {

enum class Budget { Steps, Flops };

// "steps", "flops".
const char* budget_name(Budget budget);
// For people: "Equal steps", "Equal FLOPs".
const char* budget_heading(Budget budget);

struct Recipe {
  struct Model {
    std::string name;
    std::string config;          // a preset, a config.json or a model's folder to start from; may be empty
    std::vector<int64_t> loops;  // a model for each; empty = one, as deep as its config says
    nlohmann::json keys = nlohmann::json::object();  // of config.json
  };

  std::string where;  // the file, for errors
  std::string title;
  std::vector<int64_t> seeds = {1};
  std::vector<Budget> budgets = {Budget::Steps};
  std::string reference;               // the model whose FLOPs the others get; empty = the cheapest
  std::vector<double> learning_rates;  // each is tried; empty = that of base
  int64_t context = 8192;              // tokens that KV bytes are stated for
  nlohmann::json shape = nlohmann::json::object();  // keys of config.json that the models share
  std::vector<Model> models;
  TrainSettings base;
};

Recipe recipe_from_toml(std::string_view text, const std::string& where);

// Error unless the parts of the recipe fit together: call it after the last override of `base`.
void check_recipe(const Recipe& recipe);

}  // namespace onceover
