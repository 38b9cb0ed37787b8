#include "models/yoco_params.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/printable.h"

namespace onceover {
namespace {

using Json = nlohmann::json;

// Their keys and ours.
const std::pair<const char*, const char*> required[] = {{"dim", "hidden_size"},
                                                        {"n_layers", "num_hidden_layers"},
                                                        {"hidden_dim", "intermediate_size"},
                                                        {"n_attn_heads", "num_attention_heads"},
                                                        {"vocab_size", "vocab_size"}};
const std::pair<const char*, const char*> optional[] = {{"n_attn_kv_heads", "num_key_value_heads"},
                                                        {"rope_theta", "rope_theta"},
                                                        {"norm_eps", "rms_norm_eps"},
                                                        {"sliding_window", "sliding_window"}};

// Of running, not of the model.
const std::set<std::string> idle = {"max_batch_size", "model_parallel_size", "load_checkpoint"};

bool given(const Json& json, const char* key) { return json.contains(key) && !json[key].is_null(); }

void refuse_others(const Json& params, const std::string& where) {
  std::set<std::string> known = idle;
  known.insert({"n_self_heads", "max_seq_len"});
  for (const auto& [theirs, ours] : required) known.insert(theirs);
  for (const auto& [theirs, ours] : optional) known.insert(theirs);
  for (const auto& [key, value] : params.items()) {
    if (!known.contains(key)) throw Error("{}: unknown key '{}'", where, printable(key));
  }
}

}  // namespace

Config config_from_yoco_params(const Json& params, const std::string& where) {
  if (!params.is_object()) throw Error("{}: expected a JSON object", where);
  refuse_others(params, where);
  Json ours = {{"architecture", "yoco"}, {"rope_linspace", true}, {"sliding_window", nullptr}};
  for (const auto& [theirs, name] : required) {
    if (!given(params, theirs)) throw Error("{}: key '{}' is missing", where, theirs);
    ours[name] = params[theirs];
  }
  for (const auto& [theirs, name] : optional) {
    if (given(params, theirs)) ours[name] = params[theirs];
  }
  if (!given(params, "n_self_heads")) throw Error("{}: key 'n_self_heads' is missing", where);
  if (given(params, "sliding_window")) {
    ours["num_self_attention_heads"] = ours["num_self_key_value_heads"] = params["n_self_heads"];
  } else {
    ours["self_mixer"] = "retention";
    ours["num_retention_heads"] = params["n_self_heads"];
  }
  const Json length = params.value("max_seq_len", Json());
  if (length.is_number_integer() && length > 0) ours["max_position_embeddings"] = length;
  if (params["dim"].is_number_integer() && params["dim"] > 0)
    ours["embedding_scale"] = std::sqrt(params["dim"].get<double>());
  return config_from_json(ours, where);
}

}  // namespace onceover
