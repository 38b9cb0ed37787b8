#include "architectures/config.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "architectures/config_fields.h"
#include "architectures/huggingface_config.h"
#include "architectures/registry.h"
#include "architectures/rope_scaling_json.h"
#include "base/error.h"
#include "base/json.h"
#include "base/printable.h"
#include "base/text.h"

namespace onceover {
namespace {

using Json = nlohmann::json;

// Hugging Face keys that say nothing about the mathematics here; read and dropped.
const std::set<std::string> bookkeeping = {"architectures",        "model_type",
                                           "torch_dtype",          "dtype",
                                           "transformers_version", "use_cache",
                                           "_name_or_path",        "pretraining_tp",
                                           "output_attentions",    "output_hidden_states",
                                           "return_dict",          "auto_map"};

// Hugging Face keys of features that this reader has in one setting only.
const std::vector<std::pair<std::string, Json>> fixed_keys = {{"hidden_act", "silu"},
                                                              {"attention_dropout", 0.0}};

// Other projects' words for num_loops and num_recursed_layers.
const std::vector<std::pair<std::string, std::string>> aliases = {
    {"total_ut_steps", "num_loops"},
    {"mean_recurrence", "num_loops"},
    {"n_layers_in_recurrent_block", "num_recursed_layers"}};

[[noreturn]] void refuse(const std::string& where, const std::string& key, const std::string& expected,
                         const Json& found) {
  std::string text = found.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  throw Error("{}: key '{}' must be {}, found {}", where, key, expected, text);
}

std::string range_text(const Range& r) { return fmt::format("from {} to {}", r.low, r.high); }

void read_value(const std::string& where, const std::string& key, const Json& json, const Range& range,
                int& out) {
  const std::string expected = "an integer " + range_text(range);
  if (!json.is_number_integer()) refuse(where, key, expected, json);
  const auto value = json.get<double>();
  if (value < range.low || value > range.high) refuse(where, key, expected, json);
  out = json.get<int>();
}

void read_value(const std::string& where, const std::string& key, const Json& json, const Range& range,
                double& out) {
  const std::string expected = "a number " + range_text(range);
  if (!json.is_number()) refuse(where, key, expected, json);
  const auto value = json.get<double>();
  if (!(value >= range.low && value <= range.high)) refuse(where, key, expected, json);
  out = value;
}

void read_value(const std::string& where, const std::string& key, const Json& json, const Range&, bool& out) {
  if (!json.is_boolean()) refuse(where, key, "true or false", json);
  out = json.get<bool>();
}

void read_value(const std::string& where, const std::string& key, const Json& json, const Range& range,
                std::optional<int>& out) {
  out.reset();
  if (json.is_null()) return;
  int value = 0;
  read_value(where, key, json, range, value);
  out = value;
}

void read_value(const std::string& where, const std::string& key, const Json& json, const Range& range,
                std::vector<int>& out) {
  constexpr size_t most = 64;
  out.clear();
  if (json.is_null()) return;
  if (json.is_array() && (json.empty() || json.size() > most))
    refuse(where, key, fmt::format("an integer or a list of 1 to {}", most), json);
  out.resize(json.is_array() ? json.size() : 1);
  for (size_t i = 0; i < out.size(); i++)
    read_value(where, key, json.is_array() ? json[i] : json, range, out[i]);
}

void read_value(const std::string& where, const std::string&, const Json& json, const Range&,
                RopeScaling& out) {
  out = rope_scaling_from_json(json, where);
}

template <class E>
requires std::is_enum_v<E>
void read_value(const std::string& where, const std::string& key, const Json& json, const Range&, E& out) {
  std::vector<std::string> names;
  for (const auto& choice : choices(out)) {
    if (json == choice.name) {
      out = choice.value;
      return;
    }
    names.push_back(fmt::format("\"{}\"", choice.name));
  }
  refuse(where, key, fmt::format("one of {}", fmt::join(names, ", ")), json);
}

template <class T>
nlohmann::ordered_json value_json(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    for (const auto& choice : choices(value)) {
      if (choice.value == value) return choice.name;
    }
    return nullptr;
  } else {
    return value;
  }
}
nlohmann::ordered_json value_json(const std::optional<int>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}
nlohmann::ordered_json value_json(const std::vector<int>& values) {
  if (values.size() > 1) return values;
  return values.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(values[0]);
}

nlohmann::ordered_json value_json(const RopeScaling& scaling) { return rope_scaling_to_json(scaling); }

std::string type_text(int) { return "integer"; }
std::string type_text(double) { return "number"; }
std::string type_text(bool) { return "true or false"; }
std::string type_text(const std::optional<int>&) { return "integer or null"; }
std::string type_text(const std::vector<int>&) { return "integer, list of integers or null"; }
std::string type_text(const RopeScaling&) { return "object or null"; }
template <class E>
requires std::is_enum_v<E> std::string type_text(E value) {
  std::vector<std::string> names;
  for (const auto& choice : choices(value)) names.push_back(fmt::format("\"{}\"", choice.name));
  return fmt::format("{}", fmt::join(names, ", "));
}

bool knows_key(const Architecture& architecture, const std::string& key) {
  return std::find(architecture.keys.begin(), architecture.keys.end(), key) != architecture.keys.end();
}

// Under our key, or as model_type.
std::string architecture_name(const Json& json, const std::string& where) {
  const auto text = [&](const char* key) {
    if (!json[key].is_string()) refuse(where, key, "a string", json[key]);
    return json[key].get<std::string>();
  };
  if (json.contains("architecture")) return text("architecture");
  if (!json.contains("model_type")) throw Error("{}: key 'architecture' is missing", where);
  return text("model_type");
}

// Hugging Face writes null for "not given".
bool given(const Json& json, const char* key) { return json.contains(key) && !json[key].is_null(); }

// Replaces other projects' keys by ours; the same setting twice must agree.
Json with_our_names(Json json, const std::string& where) {
  for (const auto& [theirs, ours] : aliases) {
    if (!json.contains(theirs)) continue;
    const Json value = json[theirs];
    json.erase(theirs);
    if (value.is_null()) continue;
    if (given(json, ours.c_str()) && json[ours] != value) {
      throw Error("{}: keys '{}' and '{}' mean the same and differ ({} and {})", where, theirs, ours,
                  value.dump(), json[ours].dump());
    }
    json[ours] = value;
  }
  return json;
}

void refuse_unknown_keys(const Json& json, const std::string& where) {
  std::vector<std::string> known = {"architecture"};
  for (const auto& key : config_keys()) known.push_back(key.name);
  for (const auto& [key, value] : json.items()) {
    if (std::find(known.begin(), known.end(), key) != known.end() || bookkeeping.contains(key)) continue;
    const auto fixed = std::find_if(fixed_keys.begin(), fixed_keys.end(),
                                    [&name = key](const auto& f) { return f.first == name; });
    if (fixed == fixed_keys.end())
      throw Error("{}: unknown key '{}'{}", where, printable(key), did_you_mean(key, known));
    if (value != fixed->second)
      refuse(where, key, fixed->second.dump() + " (other settings are not supported)", value);
  }
}

void require(bool condition, const std::string& where, const std::string& message) {
  if (!condition) throw Error("{}: {}", where, message);
}

// Heads left out follow the other sizes, as in Hugging Face.
void derive_heads(Config& c, const Json& json, const std::string& where) {
  if (!given(json, "num_key_value_heads")) c.num_key_value_heads = c.num_attention_heads;
  if (given(json, "head_dim")) return;
  require(c.hidden_size % c.num_attention_heads == 0, where,
          fmt::format("hidden_size {} is not a multiple of num_attention_heads {}, and head_dim is not given",
                      c.hidden_size, c.num_attention_heads));
  c.head_dim = c.hidden_size / c.num_attention_heads;
}

void check_self_heads(const Config& c, const std::string& where) {
  const int width = c.num_attention_heads * c.head_dim;
  const int heads = c.num_self_attention_heads > 0 ? c.num_self_attention_heads : c.num_attention_heads;
  const int kv_heads = c.num_self_key_value_heads > 0 ? c.num_self_key_value_heads : c.num_key_value_heads;
  require(width % (2 * heads) == 0, where,
          fmt::format("attention of width {} does not split into {} self heads of even width", width, heads));
  require(heads % kv_heads == 0, where,
          fmt::format("{} heads of the self-decoder are not a multiple of its {} key and value heads", heads,
                      kv_heads));
}

void check_rotation(const Config& c, const std::string& where) {
  const int turned = rope_angles(c, c.head_dim).turned_dims(c.head_dim);
  require(
      turned > 0 && turned % 2 == 0, where,
      fmt::format("partial_rotary_factor {} of head_dim {} is {} dims, which must be even and more than 0",
                  c.partial_rotary_factor, c.head_dim, turned));
  require(c.rope_scaling.kind != RopeScaling::Kind::Yarn || c.rope_theta > 1, where,
          "rope_scaling \"yarn\" needs a rope_theta above 1");
  require(c.cross_position_embedding != PositionEmbedding::Learned, where,
          "cross_position_embedding cannot be \"learned\": self_position_embedding adds the table to the "
          "embedding");
}

void check_heads(const Config& c, const std::string& where) {
  require(c.num_attention_heads % c.num_key_value_heads == 0, where,
          fmt::format("num_attention_heads {} is not a multiple of num_key_value_heads {}",
                      c.num_attention_heads, c.num_key_value_heads));
  require(c.head_dim % 2 == 0, where, fmt::format("head_dim {} must be even", c.head_dim));
  require(static_cast<int64_t>(c.num_attention_heads) * c.head_dim <= 1 << 22, where,
          "attention is wider than 4194304");
  check_self_heads(c, where);
  check_rotation(c, where);
  if (c.self_mixer != Mixer::Retention) return;
  const int heads = retention_heads(c);
  require(c.hidden_size % (2 * heads) == 0, where,
          fmt::format("hidden_size {} does not split into {} retention heads of even width", c.hidden_size,
                      heads));
}

void check_depth(const Config& c, const std::string& where) {
  const auto below = [&](const char* key, int value) {
    require(value < c.num_hidden_layers, where,
            fmt::format("{} {} must be less than num_hidden_layers {}", key, value, c.num_hidden_layers));
  };
  below("num_recursed_layers", c.num_recursed_layers);
  below("num_self_layers", c.num_self_layers);
  const bool split = c.architecture != "transformer" && c.architecture != "universal";
  require(!split || c.num_hidden_layers >= 2, where,
          fmt::format("architecture '{}' needs at least 2 layers, found {}", c.architecture,
                      c.num_hidden_layers));
  require(c.num_hidden_layers * c.num_loops <= 16384, where, "num_hidden_layers x num_loops exceeds 16384");
}

// Why a setting that differs from its default would have no effect; "" when it has one.
std::string idle_reason(const Config& c, const Architecture& architecture, const std::string& key,
                        bool common) {
  static const std::set<std::string> routed = {"num_experts_per_tok", "moe_intermediate_size",
                                               "shared_expert_intermediate_size", "norm_topk_prob",
                                               "router_aux_loss_coef"};
  if (!common && !knows_key(architecture, key)) return fmt::format("for architecture '{}'", c.architecture);
  if (c.num_experts == 0 && routed.contains(key)) return "while num_experts is 0";
  if (c.self_mixer == Mixer::Attention && std::ranges::count(retention_keys, key) > 0)
    return "while self_mixer is \"attention\"";
  return "";
}

void check_tokens(const Config& c, const std::string& where) {
  const auto check = [&](const char* key, int id) {
    require(id < c.vocab_size, where,
            fmt::format("{} {} must be less than vocab_size {}", key, id, c.vocab_size));
  };
  if (c.bos_token_id) check("bos_token_id", *c.bos_token_id);
  if (c.pad_token_id) check("pad_token_id", *c.pad_token_id);
  for (const int id : c.eos_token_id) check("eos_token_id", id);
}

void check_experts(const Config& c, const std::string& where) {
  if (c.num_experts == 0) return;
  require(c.moe_intermediate_size > 0, where, "num_experts is given, but not moe_intermediate_size");
  require(c.num_experts_per_tok <= c.num_experts, where,
          fmt::format("num_experts_per_tok {} exceeds num_experts {}", c.num_experts_per_tok, c.num_experts));
}

}  // namespace

RopeAngles rope_angles(const Config& c, int head_dim) {
  const bool part = c.partial_rotary_factor < 1;
  return {c.rope_theta, part ? static_cast<int>(head_dim * c.partial_rotary_factor + 1e-6) : 0,
          c.rope_linspace, c.rope_scaling};
}

int retention_heads(const Config& c) {
  return c.num_retention_heads > 0 ? c.num_retention_heads : std::max(1, c.hidden_size / 256);
}

std::vector<ConfigKey> config_keys() {
  std::vector<ConfigKey> keys;
  const Config c;
  for_config_fields(
      c, [&](const char* name, const auto& member, const Range& range, bool common, const char* meaning) {
        const bool bounded = range.high > range.low;
        keys.push_back({name, type_text(member), bounded ? range_text(range) : "", meaning, common});
      });
  return keys;
}

Config config_from_json(const Json& original, const std::string& where) {
  if (!original.is_object()) throw Error("{}: expected a JSON object", where);
  if (is_huggingface_config(original)) return config_from_json(from_huggingface(original, where), where);
  const Json json = with_rope_keys(with_our_names(original, where), where);
  Config c;
  c.architecture = architecture_name(json, where);
  const Architecture& architecture = find_architecture(c.architecture, where);
  architecture.defaults(c);
  refuse_unknown_keys(json, where);
  for_config_fields(c, [&](const char* key, auto& member, const Range& range, bool, const char*) {
    using Member = std::remove_reference_t<decltype(member)>;
    constexpr bool nullable =
        std::is_same_v<Member, std::optional<int>> || std::is_same_v<Member, std::vector<int>>;
    if (given(json, key) || (nullable && json.contains(key)))
      read_value(where, key, json[key], range, member);
  });
  derive_heads(c, json, where);
  check_config(c, where);
  return c;
}

Config config_from_text(std::string_view text, const std::string& where) {
  return config_from_json(parse_json(text, where), where);
}

nlohmann::ordered_json config_to_json(const Config& config) {
  const Architecture& architecture = find_architecture(config.architecture, "config");
  nlohmann::ordered_json json = huggingface_words(config);
  if (json.is_null()) {
    json["architectures"] = {"OnceoverForCausalLM"};
    json["model_type"] = config.architecture;
  }
  json["architecture"] = config.architecture;
  for_config_fields(config, [&](const char* key, const auto& member, const Range&, bool common, const char*) {
    if (common || knows_key(architecture, key)) json[key] = value_json(member);
  });
  return json;
}

void check_config(const Config& config, const std::string& where) {
  const Architecture& architecture = find_architecture(config.architecture, where);
  Config defaults;
  architecture.defaults(defaults);
  std::vector<nlohmann::ordered_json> usual;
  for_config_fields(defaults, [&](const char*, const auto& member, const Range&, bool, const char*) {
    usual.push_back(value_json(member));
  });
  size_t i = 0;
  for_config_fields(config, [&](const char* key, const auto& member, const Range&, bool common, const char*) {
    if (value_json(member) == usual[i++]) return;
    const std::string reason = idle_reason(config, architecture, key, common);
    require(reason.empty(), where, fmt::format("key '{}' means nothing {}", key, reason));
  });
  check_heads(config, where);
  check_depth(config, where);
  check_experts(config, where);
  check_tokens(config, where);
}

}  // namespace onceover
