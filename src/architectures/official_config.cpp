#include "architectures/official_config.h"

#include <nlohmann/json.hpp>

namespace onceover {
namespace {

using Json = nlohmann::ordered_json;

const char* activation(FeedForward kind) { return kind == FeedForward::Gelu ? "gelu" : "gelu_new"; }

// Copies `ours` under the names of `renamed`, in their order.
void take(Json& theirs, const Json& ours,
          std::initializer_list<std::pair<const char*, const char*>> renamed) {
  for (const auto& [our_key, their_key] : renamed) theirs[their_key] = ours[our_key];
}

void take_common(Json& theirs, const Json& ours) {
  for (const char* key :
       {"tie_word_embeddings", "initializer_range", "bos_token_id", "eos_token_id", "pad_token_id"})
    theirs[key] = ours[key];
}

Json gpt_neox(const Config& c, const Json& ours) {
  Json theirs = {{"architectures", {"GPTNeoXForCausalLM"}}, {"model_type", "gpt_neox"}};
  take(theirs, ours,
       {{"vocab_size", "vocab_size"},
        {"hidden_size", "hidden_size"},
        {"num_hidden_layers", "num_hidden_layers"},
        {"num_attention_heads", "num_attention_heads"},
        {"intermediate_size", "intermediate_size"},
        {"max_position_embeddings", "max_position_embeddings"},
        {"rms_norm_eps", "layer_norm_eps"},
        {"partial_rotary_factor", "rotary_pct"},
        {"rope_theta", "rotary_emb_base"},
        {"use_parallel_residual", "use_parallel_residual"},
        {"attention_bias", "attention_bias"}});
  if (!ours["rope_scaling"].is_null()) theirs["rope_scaling"] = ours["rope_scaling"];
  theirs["hidden_act"] = activation(c.feed_forward);
  take_common(theirs, ours);
  return theirs;
}

Json gpt2(const Config& c, const Json& ours) {
  Json theirs = {{"architectures", {"GPT2LMHeadModel"}}, {"model_type", "gpt2"}};
  take(theirs, ours,
       {{"vocab_size", "vocab_size"},
        {"hidden_size", "n_embd"},
        {"num_hidden_layers", "n_layer"},
        {"num_attention_heads", "n_head"},
        {"intermediate_size", "n_inner"},
        {"max_position_embeddings", "n_positions"},
        {"rms_norm_eps", "layer_norm_epsilon"}});
  theirs["activation_function"] = activation(c.feed_forward);
  take_common(theirs, ours);
  return theirs;
}

}  // namespace

Json official_config(const Config& c) {
  const bool gpt = c.architecture == "transformer" && c.norm == NormKind::Layer &&
                   c.feed_forward != FeedForward::Swiglu &&
                   c.hidden_size == c.num_attention_heads * c.head_dim;
  if (!gpt) return nullptr;
  const Json ours = config_to_json(c);
  Json theirs = c.self_position_embedding == PositionEmbedding::Learned ? gpt2(c, ours) : gpt_neox(c, ours);
  // Whatever the type has no key for shows here: another norm of heads, a window, experts.
  const bool whole = config_to_json(config_from_json(nlohmann::json(theirs), "config")) == ours;
  return whole ? theirs : nullptr;
}

}  // namespace onceover
