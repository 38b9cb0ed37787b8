#include "architectures/huggingface_config.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "architectures/rope_scaling_json.h"
#include "base/error.h"
#include "base/printable.h"

namespace onceover {
namespace {

using Json = nlohmann::json;

bool given(const Json& json, const std::string& key) { return json.contains(key) && !json[key].is_null(); }

[[noreturn]] void refuse(const std::string& where, const std::string& key, const std::string& expected,
                         const Json& found) {
  throw Error("{}: key '{}' must be {} (other settings are not supported), found {}", where, key, expected,
              printable(found.dump(-1, ' ', true, Json::error_handler_t::replace), 60));
}

// Keys that change the mathematics when they are there with another value.
const std::vector<std::pair<const char*, Json>>& neutral_values() {
  static const std::vector<std::pair<const char*, Json>> table = {{"quantization_config", nullptr},
                                                                  {"is_encoder_decoder", false},
                                                                  {"add_cross_attention", false},
                                                                  {"num_experts", 0},
                                                                  {"num_local_experts", 0},
                                                                  {"n_routed_experts", 0},
                                                                  {"attn_logit_softcapping", nullptr},
                                                                  {"final_logit_softcapping", nullptr},
                                                                  {"logit_scale", 1},
                                                                  {"logits_scaling", 1},
                                                                  {"embedding_multiplier", 1},
                                                                  {"residual_multiplier", 1},
                                                                  {"attention_multiplier", nullptr},
                                                                  {"attention_chunk_size", nullptr},
                                                                  {"no_rope_layers", nullptr},
                                                                  {"clip_qkv", nullptr},
                                                                  {"alibi", false},
                                                                  {"use_qk_norm", false},
                                                                  {"qk_layernorm", false},
                                                                  {"rope_interleaved", false},
                                                                  {"scale_attn_weights", true},
                                                                  {"scale_attn_by_inverse_layer_idx", false},
                                                                  {"use_mrope", false}};
  return table;
}

void refuse_features(const Json& json, const std::string& where) {
  for (const auto& [key, neutral] : neutral_values()) {
    if (given(json, key) && json[key] != neutral) refuse(where, key, neutral.dump(), json[key]);
  }
}

// Copies keys that keep their names.
void take(Json& ours, const Json& theirs, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    if (theirs.contains(key)) ours[key] = theirs[key];
  }
}

// Copies the first of `names` that is there.
void take_as(Json& ours, const Json& theirs, const char* key, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (!given(theirs, name)) continue;
    ours[key] = theirs[name];
    return;
  }
}

// The layers must be of one kind: layer_types where there, else what `usual` says.
void take_window(Json& ours, const Json& theirs, bool usual, const std::string& where) {
  bool windowed = usual;
  if (given(theirs, "layer_types")) {
    const Json& kinds = theirs["layer_types"];
    const auto all = [&](const char* kind) {
      return kinds.is_array() &&
             std::all_of(kinds.begin(), kinds.end(), [&](const Json& k) { return k == kind; });
    };
    windowed = all("sliding_attention");
    if (!windowed && !all("full_attention"))
      refuse(where, "layer_types", "all \"full_attention\" or all \"sliding_attention\"", kinds);
  }
  if (!windowed) ours["sliding_window"] = nullptr;
}

void require_silu(const Json& json, const std::string& where) {
  if (given(json, "hidden_act") && json["hidden_act"] != "silu" && json["hidden_act"] != "swish")
    refuse(where, "hidden_act", "\"silu\"", json["hidden_act"]);
}

const char* feed_forward_of(const Json& activation, const char* key, const std::string& where) {
  for (const char* exact : {"gelu", "gelu_python"}) {
    if (activation == exact) return "gelu";
  }
  for (const char* tanh : {"gelu_new", "gelu_fast", "gelu_pytorch_tanh"}) {
    if (activation == tanh) return "gelu-tanh";
  }
  refuse(where, key, "one of \"gelu\", \"gelu_new\", \"gelu_fast\", \"gelu_pytorch_tanh\"", activation);
}

void llama_family(Json& ours, const Json& theirs, const std::string& where) {
  require_silu(theirs, where);
  take(ours, theirs, {"attention_bias", "mlp_bias"});
}

void mistral(Json& ours, const Json& theirs, const std::string& where) {
  require_silu(theirs, where);
  take(ours, theirs, {"sliding_window"});
  take_window(ours, theirs, true, where);
}

// Layers from max_window_layers on are windowed, when use_sliding_window says so.
bool qwen_windowed(const Json& theirs, const std::string& where) {
  if (!given(theirs, "use_sliding_window") || theirs["use_sliding_window"] == false) return false;
  constexpr int usual_window_layers = 28;
  const Json full =
      given(theirs, "max_window_layers") ? theirs["max_window_layers"] : Json(usual_window_layers);
  const Json layers = given(theirs, "num_hidden_layers") ? theirs["num_hidden_layers"] : Json(32);
  if (!full.is_number_integer() || (full != 0 && full < layers))
    refuse(where, "max_window_layers", "0, or all layers", full);
  return full == 0;
}

void qwen(Json& ours, const Json& theirs, const std::string& where) {
  require_silu(theirs, where);
  take(ours, theirs, {"sliding_window"});
  const bool listed = given(theirs, "layer_types");
  take_window(ours, theirs, !listed && qwen_windowed(theirs, where), where);
}

void qwen3(Json& ours, const Json& theirs, const std::string& where) {
  qwen(ours, theirs, where);
  take(ours, theirs, {"attention_bias"});
}

void ouro(Json& ours, const Json& theirs, const std::string& where) {
  qwen(ours, theirs, where);
  take_as(ours, theirs, "num_loops", {"total_ut_steps"});
  if (given(theirs, "early_exit_threshold") && theirs["early_exit_threshold"] != 1)
    refuse(where, "early_exit_threshold",
           "1, which runs every iteration for every token; below it the exit gate would choose each token's "
           "iteration, and no executor reads the gate",
           theirs["early_exit_threshold"]);
}

void gpt_neox(Json& ours, const Json& theirs, const std::string& where) {
  take_as(ours, theirs, "rms_norm_eps", {"layer_norm_eps"});
  take_as(ours, theirs, "rope_theta", {"rope_theta", "rotary_emb_base"});
  take_as(ours, theirs, "partial_rotary_factor", {"partial_rotary_factor", "rotary_pct"});
  take(ours, theirs, {"use_parallel_residual", "attention_bias"});
  if (given(theirs, "hidden_act"))
    ours["feed_forward"] = feed_forward_of(theirs["hidden_act"], "hidden_act", where);
}

void gpt2(Json& ours, const Json& theirs, const std::string& where) {
  take_as(ours, theirs, "hidden_size", {"n_embd", "hidden_size"});
  take_as(ours, theirs, "num_hidden_layers", {"n_layer", "num_hidden_layers"});
  take_as(ours, theirs, "num_attention_heads", {"n_head", "num_attention_heads"});
  take_as(ours, theirs, "max_position_embeddings", {"n_positions", "max_position_embeddings"});
  take_as(ours, theirs, "rms_norm_eps", {"layer_norm_epsilon"});
  if (given(theirs, "n_inner"))
    ours["intermediate_size"] = theirs["n_inner"];
  else if (ours["hidden_size"].is_number_integer() && ours["hidden_size"] <= (1 << 20))
    ours["intermediate_size"] = 4 * ours["hidden_size"].get<int64_t>();
  if (given(theirs, "activation_function"))
    ours["feed_forward"] = feed_forward_of(theirs["activation_function"], "activation_function", where);
}

struct Family {
  const char* model_type;
  const char* class_name;
  Json defaults;  // of transformers, in our keys
  void (*translate)(Json& ours, const Json& theirs, const std::string& where);
};

const std::vector<Family>& families() {
  static const Json common = {{"architecture", "transformer"}, {"hidden_size", 4096},
                              {"num_hidden_layers", 32},       {"num_attention_heads", 32},
                              {"rms_norm_eps", 1e-6},          {"tie_word_embeddings", false}};
  const auto with = [](Json more) {
    Json all = common;
    all.update(more);
    return all;
  };
  static const std::vector<Family> table = {{"llama", "LlamaForCausalLM",
                                             with({{"vocab_size", 32000},
                                                   {"intermediate_size", 11008},
                                                   {"max_position_embeddings", 2048},
                                                   {"bos_token_id", 1},
                                                   {"eos_token_id", 2}}),
                                             llama_family},
                                            {"mistral", "MistralForCausalLM",
                                             with({{"vocab_size", 32000},
                                                   {"intermediate_size", 14336},
                                                   {"num_key_value_heads", 8},
                                                   {"max_position_embeddings", 131072},
                                                   {"sliding_window", 4096},
                                                   {"bos_token_id", 1},
                                                   {"eos_token_id", 2}}),
                                             mistral},
                                            {"qwen2", "Qwen2ForCausalLM",
                                             with({{"vocab_size", 151936},
                                                   {"intermediate_size", 22016},
                                                   {"num_key_value_heads", 32},
                                                   {"max_position_embeddings", 32768},
                                                   {"sliding_window", 4096},
                                                   {"qkv_bias", true}}),
                                             qwen},
                                            {"qwen3", "Qwen3ForCausalLM",
                                             with({{"vocab_size", 151936},
                                                   {"intermediate_size", 22016},
                                                   {"num_key_value_heads", 32},
                                                   {"head_dim", 128},
                                                   {"max_position_embeddings", 32768},
                                                   {"sliding_window", 4096},
                                                   {"qk_norm", true}}),
                                             qwen3},
                                            {"ouro", "OuroForCausalLM",
                                             with({{"architecture", "ouro"},
                                                   {"vocab_size", 151936},
                                                   {"intermediate_size", 22016},
                                                   {"num_key_value_heads", 32},
                                                   {"max_position_embeddings", 32768},
                                                   {"sliding_window", 4096},
                                                   {"num_loops", 4}}),
                                             ouro},
                                            {"gpt_neox", "GPTNeoXForCausalLM",
                                             with({{"vocab_size", 50432},
                                                   {"hidden_size", 6144},
                                                   {"num_hidden_layers", 44},
                                                   {"num_attention_heads", 64},
                                                   {"intermediate_size", 24576},
                                                   {"max_position_embeddings", 2048},
                                                   {"rms_norm_eps", 1e-5},
                                                   {"partial_rotary_factor", 0.25},
                                                   {"norm", "layer"},
                                                   {"feed_forward", "gelu"},
                                                   {"use_parallel_residual", true},
                                                   {"attention_bias", true},
                                                   {"mlp_bias", true},
                                                   {"bos_token_id", 0},
                                                   {"eos_token_id", 2}}),
                                             gpt_neox},
                                            {"gpt2", "GPT2LMHeadModel",
                                             with({{"vocab_size", 50257},
                                                   {"hidden_size", 768},
                                                   {"num_hidden_layers", 12},
                                                   {"num_attention_heads", 12},
                                                   {"max_position_embeddings", 1024},
                                                   {"rms_norm_eps", 1e-5},
                                                   {"self_position_embedding", "learned"},
                                                   {"norm", "layer"},
                                                   {"feed_forward", "gelu-tanh"},
                                                   {"attention_bias", true},
                                                   {"mlp_bias", true},
                                                   {"tie_word_embeddings", true},
                                                   {"bos_token_id", 50256},
                                                   {"eos_token_id", 50256}}),
                                             gpt2}};
  return table;
}

const Family* find_family(const Json& json) {
  if (!json.contains("model_type")) return nullptr;
  for (const Family& family : families()) {
    if (json["model_type"] == family.model_type) return &family;
  }
  return nullptr;
}

// A classifier or an encoder of the same type has another head, or none.
void require_class(const Family& family, const Json& json, const std::string& where) {
  if (!given(json, "architectures")) return;
  const Json& names = json["architectures"];
  if (!names.is_array() || std::find(names.begin(), names.end(), family.class_name) == names.end())
    refuse(where, "architectures", fmt::format("[\"{}\"]", family.class_name), names);
}

// Hugging Face writes -1 for a token that there is not.
void drop_absent_tokens(Json& ours) {
  for (const char* key : {"bos_token_id", "pad_token_id", "eos_token_id"}) {
    if (given(ours, key) && ours[key] == -1) ours[key] = nullptr;
  }
}

}  // namespace

std::vector<std::string> huggingface_model_types() {
  std::vector<std::string> names;
  for (const Family& family : families()) names.emplace_back(family.model_type);
  return names;
}

bool is_huggingface_config(const Json& json) {
  return json.is_object() && !json.contains("architecture") && find_family(json) != nullptr;
}

Json from_huggingface(const Json& json, const std::string& where) {
  const Family& family = *find_family(json);
  const Json theirs = with_rope_keys(json, where);
  require_class(family, theirs, where);
  refuse_features(theirs, where);
  Json ours = family.defaults;
  for (const char* key :
       {"vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size",
        "max_position_embeddings", "rms_norm_eps", "rope_theta", "rope_scaling", "partial_rotary_factor",
        "tie_word_embeddings", "initializer_range"})
    take_as(ours, theirs, key, {key});
  take(ours, theirs, {"num_key_value_heads", "head_dim", "bos_token_id", "eos_token_id", "pad_token_id"});
  family.translate(ours, theirs, where);
  drop_absent_tokens(ours);
  return ours;
}

nlohmann::ordered_json huggingface_words(const Config& c) {
  nlohmann::ordered_json none;
  if (c.norm != NormKind::Rms || c.feed_forward != FeedForward::Swiglu || c.use_parallel_residual ||
      c.self_position_embedding != PositionEmbedding::Rope || c.num_experts > 0 || c.embedding_scale != 1 ||
      c.partial_rotary_factor != 1 || c.rope_linspace)
    return none;
  const bool plain = !c.qkv_bias && !c.attention_bias && !c.mlp_bias && !c.qk_norm;
  if (c.architecture == "ouro") {
    if (!plain || c.sliding_window) return none;
    return {{"architectures", {"OuroForCausalLM"}}, {"model_type", "ouro"}, {"total_ut_steps", c.num_loops}};
  }
  if (c.architecture != "transformer") return none;
  if (c.qk_norm && !c.qkv_bias && !c.mlp_bias && !c.sliding_window)
    return {{"architectures", {"Qwen3ForCausalLM"}}, {"model_type", "qwen3"}};
  if (c.qkv_bias && !c.qk_norm && !c.attention_bias && !c.mlp_bias && !c.sliding_window)
    return {{"architectures", {"Qwen2ForCausalLM"}}, {"model_type", "qwen2"}};
  if (c.sliding_window && plain)
    return {{"architectures", {"MistralForCausalLM"}}, {"model_type", "mistral"}};
  if (!c.sliding_window && !c.qk_norm && !c.qkv_bias)
    return {{"architectures", {"LlamaForCausalLM"}}, {"model_type", "llama"}};
  return none;
}

}  // namespace onceover
