// The description of a model: what config.json holds. Keys and meanings are Hugging Face's where one exists.
//
// config.json is untrusted: unknown keys, wrong types, values out of range and keys that mean nothing for the
// chosen architecture are Errors that name the file and the key. docs/config.md lists every key.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/rope_angles.h"

namespace onceover {

enum class Mixer { Attention, Retention };  // how the self-decoder mixes rows
enum class PositionEmbedding {
  Rope,
  None,
  Learned
};  // None = NoPE; Learned = a table added to the embedding
enum class NormKind { Rms, Layer };
enum class FeedForward { Swiglu, Gelu, GeluTanh };
enum class CrossKv {
  Projected,
  LastLayer
};  // own norm and projections (YOCO), or the last self layer's KV (YOCO++)
enum class ResidualSource { SameLoop, FirstLoop };
enum class Initializer { Normal, Yoco };

struct Config {
  std::string architecture = "transformer";
  int vocab_size = 32000;
  int hidden_size = 768;
  int num_hidden_layers = 12;
  int num_attention_heads = 12;
  int num_key_value_heads = 12;
  int head_dim = 64;
  int intermediate_size = 2048;
  int max_position_embeddings = 8192;
  double rms_norm_eps = 1e-5;
  double rope_theta = 10000;
  RopeScaling rope_scaling;
  double partial_rotary_factor = 1;  // share of a head that turns
  bool rope_linspace = false;
  NormKind norm = NormKind::Rms;
  FeedForward feed_forward = FeedForward::Swiglu;
  bool use_parallel_residual = false;
  bool qk_norm = false;         // of each query and key head
  bool qkv_bias = false;        // on q_proj, k_proj, v_proj
  bool attention_bias = false;  // on these and o_proj
  bool mlp_bias = false;
  bool tie_word_embeddings = true;
  double embedding_scale = 1;
  Initializer initializer = Initializer::Normal;
  double initializer_range = 0.02;
  std::optional<int> bos_token_id, pad_token_id;
  std::vector<int> eos_token_id;  // any of them ends a text; empty = none

  // Attention window of the layers that have one; absent = every earlier row.
  std::optional<int> sliding_window;

  // Depth by repetition.
  int num_loops = 1;
  int num_recursed_layers = 0;  // rins: layers of A; 0 = half

  // YOCO.
  int num_self_layers = 0;           // layers of the self-decoder; 0 = half
  int num_self_attention_heads = 0;  // of the self-decoder; 0 = as the cross-decoder
  int num_self_key_value_heads = 0;
  Mixer self_mixer = Mixer::Attention;
  int num_retention_heads = 0;  // 0 = hidden_size / 256, at least 1
  double retention_temperature = 16;
  PositionEmbedding self_position_embedding = PositionEmbedding::Rope;
  PositionEmbedding cross_position_embedding = PositionEmbedding::Rope;
  CrossKv cross_kv = CrossKv::Projected;

  // YOCO++.
  double kv_residual_scale = 35;
  ResidualSource kv_residual_source = ResidualSource::SameLoop;
  bool kv_residual_per_loop = false;

  // Routed feed-forward; 0 experts = dense.
  int num_experts = 0;
  int num_experts_per_tok = 8;
  int moe_intermediate_size = 0;
  int shared_expert_intermediate_size = 0;
  bool norm_topk_prob = true;
  double router_aux_loss_coef = 0.01;
};

// The heads of a retention layer: num_retention_heads or what stands for its 0.
int retention_heads(const Config& config);

// How heads of this width turn.
RopeAngles rope_angles(const Config& config, int head_dim);

// Reads the object of a config.json; `where` names the source in errors. Keys left out take the defaults of
// the architecture (registry.h). Without the key 'architecture', model_type says what it is: one of ours, or
// one of Hugging Face's (huggingface_config.h), with the defaults of transformers.
Config config_from_json(const nlohmann::json& json, const std::string& where);
Config config_from_text(std::string_view text, const std::string& where);

// Every key that means something for the architecture, in the order of docs/config.md; reading it back gives
// `config`.
nlohmann::ordered_json config_to_json(const Config& config);

// Throws Error unless the sizes fit together and the architecture knows every setting that differs from its
// default.
void check_config(const Config& config, const std::string& where);

struct ConfigKey {
  std::string name, type, range, meaning;  // range: "1 to 64", "" where the type says all
  bool common;                             // read by every architecture
};
std::vector<ConfigKey> config_keys();

}  // namespace onceover
