#include "architectures/rope_scaling_json.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/printable.h"

namespace onceover {
namespace {

using Json = nlohmann::json;
constexpr const char* key = "rope_scaling";

// Reads the settings of one type, and remembers which it asked for.
class Settings {
 public:
  Settings(const Json& json, const std::string& where) : json_(json), where_(where) {}

  double number(const char* name, double low, double high, double otherwise = NAN) {
    asked_.insert(name);
    const auto found = json_.find(name);
    if (found == json_.end() || found->is_null()) {
      if (std::isnan(otherwise)) throw Error("{}: key '{}' needs '{}'", where_, key, name);
      return otherwise;
    }
    const double value = found->is_number() ? found->get<double>() : NAN;
    if (!(value >= low && value <= high)) {
      throw Error("{}: key '{}': '{}' must be a number from {} to {}, found {}", where_, key, name, low, high,
                  printable(found->dump(-1, ' ', true, Json::error_handler_t::replace)));
    }
    return value;
  }

  // Whatever was not asked for would change the angles.
  void refuse_others() const {
    for (const auto& [name, value] : json_.items()) {
      const bool neutral = value.is_null() || name == "finetuned" || (name == "truncate" && value == true);
      if (name != "rope_type" && !asked_.contains(name) && !neutral)
        throw Error("{}: key '{}': '{}' is not supported for this type", where_, key, printable(name));
    }
  }

 private:
  const Json& json_;
  const std::string& where_;
  std::set<std::string> asked_;
};

constexpr double most = 1e9;

RopeScaling read_linear(Settings& s) {
  return {.kind = RopeScaling::Kind::Linear, .factor = s.number("factor", 1e-3, most)};
}

RopeScaling read_llama3(Settings& s, const std::string& where) {
  RopeScaling scaling{.kind = RopeScaling::Kind::Llama3, .factor = s.number("factor", 1e-3, most)};
  scaling.original_length = s.number("original_max_position_embeddings", 1, most);
  scaling.low_freq_factor = s.number("low_freq_factor", 1e-3, most);
  scaling.high_freq_factor = s.number("high_freq_factor", 1e-3, most);
  if (scaling.low_freq_factor >= scaling.high_freq_factor)
    throw Error("{}: key '{}': low_freq_factor must be less than high_freq_factor", where, key);
  return scaling;
}

RopeScaling read_yarn(Settings& s) {
  RopeScaling scaling{.kind = RopeScaling::Kind::Yarn, .factor = s.number("factor", 1e-3, most)};
  scaling.original_length = s.number("original_max_position_embeddings", 1, most);
  scaling.beta_fast = s.number("beta_fast", 1e-3, most, 32);
  scaling.beta_slow = s.number("beta_slow", 1e-3, most, 1);
  scaling.magnitude = s.number("attention_factor", 1e-3, most, yarn_magnitude(scaling.factor));
  return scaling;
}

// Moves `name` out of `parameters` to the top, where it must not differ.
void raise(Json& config, Json& parameters, const char* name, const char* parent, const std::string& where) {
  const auto found = parameters.find(name);
  if (found == parameters.end()) return;
  const bool given = config.contains(name) && !config[name].is_null();
  if (given && config[name] != *found) throw Error("{}: keys '{}' and '{}' differ", where, name, parent);
  config[name] = *found;
  parameters.erase(name);
}

Json with_todays_words(Json parameters) {
  if (parameters.contains("type") && !parameters.contains("rope_type"))
    parameters["rope_type"] = parameters["type"];
  parameters.erase("type");
  const bool plain = !parameters.contains("rope_type") || parameters["rope_type"] == "default";
  if (plain) parameters.erase("rope_type");
  return parameters.empty() ? Json() : parameters;
}

// Whole numbers as such: transformers complains of 8192.0.
nlohmann::ordered_json length_json(double length) {
  if (length == std::floor(length)) return static_cast<int64_t>(length);
  return length;
}

}  // namespace

RopeScaling rope_scaling_from_json(const Json& json, const std::string& where) {
  if (json.is_null()) return {};
  if (!json.is_object()) throw Error("{}: key '{}' must be an object or null", where, key);
  const auto type = json.find("rope_type");
  const std::string name = type != json.end() && type->is_string() ? type->get<std::string>() : "";
  Settings settings(json, where);
  RopeScaling scaling;
  if (name == "linear") {
    scaling = read_linear(settings);
  } else if (name == "llama3") {
    scaling = read_llama3(settings, where);
  } else if (name == "yarn") {
    scaling = read_yarn(settings);
  } else {
    throw Error(
        "{}: key '{}': rope_type must be one of \"linear\", \"llama3\", \"yarn\", found {}", where, key,
        type == json.end() ? "nothing"
                           : printable(type->dump(-1, ' ', true, Json::error_handler_t::replace), 60));
  }
  settings.refuse_others();
  return scaling;
}

nlohmann::ordered_json rope_scaling_to_json(const RopeScaling& s) {
  switch (s.kind) {
    case RopeScaling::Kind::None:
      return nullptr;
    case RopeScaling::Kind::Linear:
      return {{"rope_type", "linear"}, {"factor", s.factor}};
    case RopeScaling::Kind::Llama3:
      return {{"rope_type", "llama3"},
              {"factor", s.factor},
              {"low_freq_factor", s.low_freq_factor},
              {"high_freq_factor", s.high_freq_factor},
              {"original_max_position_embeddings", length_json(s.original_length)}};
    case RopeScaling::Kind::Yarn:
      break;
  }
  return {{"rope_type", "yarn"},
          {"factor", s.factor},
          {"beta_fast", s.beta_fast},
          {"beta_slow", s.beta_slow},
          {"attention_factor", s.magnitude},
          {"original_max_position_embeddings", length_json(s.original_length)}};
}

Json with_rope_keys(Json config, const std::string& where) {
  for (const char* parent : {"rope_parameters", key}) {
    const auto found = config.find(parent);
    if (found == config.end() || found->is_null()) continue;
    if (!found->is_object()) throw Error("{}: key '{}' must be an object or null", where, parent);
    Json parameters = *found;
    if (parent != key) config.erase(parent);
    raise(config, parameters, "rope_theta", parent, where);
    raise(config, parameters, "partial_rotary_factor", parent, where);
    parameters = with_todays_words(std::move(parameters));
    if (parameters.is_null()) {
      if (parent == key) config.erase(key);
      continue;
    }
    const bool yarn = parameters.contains("rope_type") && parameters["rope_type"] == "yarn";
    if (yarn && !parameters.contains("original_max_position_embeddings") &&
        config.contains("max_position_embeddings"))
      parameters["original_max_position_embeddings"] = config["max_position_embeddings"];
    if (parent != key && config.contains(key) && !config[key].is_null() && config[key] != parameters)
      throw Error("{}: keys '{}' and '{}' differ", where, parent, key);
    config[key] = std::move(parameters);
  }
  config.erase("rope_parameters");
  return config;
}

}  // namespace onceover
