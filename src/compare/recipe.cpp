#include "compare/recipe.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "base/error.h"
#include "base/printable.h"
#include "base/text.h"
#include "train/parse_toml.h"

namespace onceover {
namespace {

using Json = nlohmann::json;

constexpr size_t most_values = 1000;
constexpr int64_t largest = 9007199254740991;  // 2^53 - 1: exact as a double

std::string shown(const toml::node& node) {
  std::ostringstream text;
  node.visit([&](const auto& value) { text << value; });
  return printable(text.str());
}

[[noreturn]] void refuse(const std::string& where, const char* expected, const toml::node& found) {
  throw Error("{} must be {}, found {}", where, expected, shown(found));
}

// Names and titles go to terminals, file names and pages.
std::string text_of(const toml::node& node, const std::string& where) {
  constexpr size_t most_bytes = 200;
  const auto* text = node.as_string();
  if (!text || text->get().empty() || printable(text->get(), most_bytes) != text->get())
    refuse(where, "a string of 1 to 200 bytes without control characters", node);
  return text->get();
}

int64_t integer_of(const toml::node& node, const std::string& where, int64_t low, int64_t high) {
  const auto* number = node.as_integer();
  if (!number || number->get() < low || number->get() > high)
    refuse(where, fmt::format("an integer from {} to {}", low, high).c_str(), node);
  return number->get();
}

double positive_of(const toml::node& node, const std::string& where) {
  const auto number = node.value<double>();
  if (!node.is_number() || !(*number > 0 && *number <= 1e3))
    refuse(where, "a number above 0 up to 1000", node);
  return *number;
}

Budget budget_of(const toml::node& node, const std::string& where) {
  const auto name = node.value<std::string>();
  for (const Budget budget : {Budget::Steps, Budget::Flops}) {
    if (name == budget_name(budget)) return budget;
  }
  refuse(where, "\"steps\" or \"flops\"", node);
}

// A list without repetitions of at least one value.
template <class F>
auto list_of(const toml::node& node, const std::string& where, const F& read) {
  std::vector<decltype(read(node, where))> list;
  const auto* array = node.as_array();
  if (!array || array->empty() || array->size() > most_values)
    refuse(where, fmt::format("a list of 1 to {} values", most_values).c_str(), node);
  for (const auto& item : *array) {
    const auto value = read(item, where);
    if (std::find(list.begin(), list.end(), value) != list.end())
      throw Error("{} holds {} twice", where, shown(item));
    list.push_back(value);
  }
  return list;
}

std::vector<int64_t> integers_of(const toml::node& node, const std::string& where, int64_t low,
                                 int64_t high) {
  return list_of(node, where, [=](const toml::node& item, const std::string& at) {
    return integer_of(item, at, low, high);
  });
}

// A value as config.json would hold it.
Json json_of(const toml::node& node, const std::string& where) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* integer = node.as_integer()) return integer->get();
  if (const auto* real = node.as_floating_point()) return real->get();
  if (const auto* flag = node.as_boolean()) return flag->get();
  const auto* array = node.as_array();
  if (!array) refuse(where, "a string, a number, true, false or a list", node);
  Json list = Json::array();
  for (const auto& item : *array) list.push_back(json_of(item, where));
  return list;
}

const toml::table& table_of(const toml::node& node, const std::string& where) {
  if (const auto* table = node.as_table()) return *table;
  refuse(where, "a section", node);
}

Json shape_of(const toml::node& node, const std::string& where) {
  Json shape = Json::object();
  for (const auto& [key, value] : table_of(node, where)) {
    const std::string name(key.str());
    shape[name] = json_of(value, where + "." + printable(name));
  }
  return shape;
}

Recipe::Model model_of(const toml::node& node, const std::string& where) {
  Recipe::Model model;
  const toml::table& table = table_of(node, where);
  if (!table.contains("name")) throw Error("{}: a [[model]] has no name", where);
  model.name = text_of(*table.get("name"), where + ": name");
  const std::string at = fmt::format("{} '{}'", where, model.name);
  for (const auto& [key, value] : table) {
    const std::string name(key.str());
    if (name == "name") continue;
    const std::string here = fmt::format("{}: {}", at, printable(name));
    if (name == "config") {
      model.config = text_of(value, here);
    } else if (name == "loops") {
      model.loops = integers_of(value, here, 1, 1024);
    } else {
      model.keys[name] = json_of(value, here);
    }
  }
  return model;
}

std::vector<Recipe::Model> models_of(const toml::node& node, const std::string& where) {
  const auto* array = node.as_array();
  if (!array || array->empty()) throw Error("{}: expected sections [[model]]", where);
  std::vector<Recipe::Model> models;
  for (const auto& item : *array) models.push_back(model_of(item, where));
  return models;
}

// The keys of a training settings file, read as one.
TrainSettings base_of(const toml::node& node, const std::string& where) {
  std::ostringstream text;
  text << toml::toml_formatter{table_of(node, where)};
  return train_settings_from_toml(text.str(), where);
}

using Reader = std::function<void(Recipe&, const toml::node&, const std::string& where)>;

const std::map<std::string, Reader>& readers() {
  static const std::map<std::string, Reader> all = {
      {"title", [](Recipe& r, const auto& n, const auto& w) { r.title = text_of(n, w); }},
      {"seeds", [](Recipe& r, const auto& n, const auto& w) { r.seeds = integers_of(n, w, 0, largest); }},
      {"budgets", [](Recipe& r, const auto& n, const auto& w) { r.budgets = list_of(n, w, budget_of); }},
      {"reference", [](Recipe& r, const auto& n, const auto& w) { r.reference = text_of(n, w); }},
      {"learning_rates",
       [](Recipe& r, const auto& n, const auto& w) { r.learning_rates = list_of(n, w, positive_of); }},
      {"context", [](Recipe& r, const auto& n, const auto& w) { r.context = integer_of(n, w, 1, 1 << 30); }},
      {"shape", [](Recipe& r, const auto& n, const auto& w) { r.shape = shape_of(n, w); }},
      {"model", [](Recipe& r, const auto& n, const auto& w) { r.models = models_of(n, w); }},
      {"base", [](Recipe& r, const auto& n, const auto& w) { r.base = base_of(n, w); }}};
  return all;
}

void require(bool holds, const Recipe& recipe, const std::string& reason) {
  if (!holds) throw Error("{}: {}", recipe.where, reason);
}

}  // namespace

const char* budget_name(Budget budget) { return budget == Budget::Steps ? "steps" : "flops"; }

const char* budget_heading(Budget budget) { return budget == Budget::Steps ? "Equal steps" : "Equal FLOPs"; }

Recipe recipe_from_toml(std::string_view text, const std::string& where) {
  Recipe recipe;
  recipe.where = where;
  std::vector<std::string> known;
  for (const auto& [name, reader] : readers()) known.push_back(name);
  for (const auto& [key, node] : parse_toml(text, where)) {
    const std::string name(key.str());
    const auto reader = readers().find(name);
    if (reader == readers().end())
      throw Error("{}: unknown key '{}'{}", where, printable(name), did_you_mean(name, known));
    reader->second(recipe, node, fmt::format("{}: {}", where, name));
  }
  return recipe;
}

void check_recipe(const Recipe& recipe) {
  const TrainSettings& base = recipe.base;
  require(!recipe.models.empty(), recipe, "expected sections [[model]], found none");
  std::set<std::string> names;
  for (const auto& model : recipe.models)
    require(names.insert(model.name).second, recipe, fmt::format("two models are named '{}'", model.name));
  require(base.model.config.empty() && base.model.init.empty() && base.model.loops == 0, recipe,
          "base.model says what is in [[model]]; expected it to be absent");
  require(base.run.folder.empty(), recipe, "base.run.folder is given; expected --out on the command line");
  require(base.run.seed == 1 && base.data.seed == 1, recipe,
          "base.run.seed or base.data.seed is given; expected `seeds`, which sets both");
  require(base.schedule.flops == 0, recipe,
          "base.schedule.flops is given; expected steps or tokens: FLOPs are those of the reference");
  TrainSettings whole = base;
  whole.model.config = "that of a [[model]]";
  whole.run.folder = "that of a run";
  check_train_settings(whole, recipe.where + ": base");
}

}  // namespace onceover
