#include "support/models.h"

#include <algorithm>
#include <ostream>

#include "architectures/registry.h"

namespace onceover::test {
namespace {

struct Variant {
  const char* name;
  const char* architecture;
  void (*change)(Config&);
  int loops = 0;  // of the Run; 0 = as the config says
};

void with_retention(Config& c) {
  c.self_mixer = Mixer::Retention;
  c.num_retention_heads = 2;
}

void looped_and_windowed(Config& c) {
  c.num_loops = 3;
  c.sliding_window = tiny_window;
}

void as_gpt_neox(Config& c) {
  c.norm = NormKind::Layer;
  c.feed_forward = FeedForward::Gelu;
  c.use_parallel_residual = c.attention_bias = c.mlp_bias = true;
  c.head_dim = 8;
  c.partial_rotary_factor = 0.5;
}

void as_gpt2(Config& c) {
  c.norm = NormKind::Layer;
  c.feed_forward = FeedForward::GeluTanh;
  c.self_position_embedding = PositionEmbedding::Learned;
  c.attention_bias = c.mlp_bias = true;
  c.max_position_embeddings = 4096;
}

const std::vector<Variant>& variants() {
  static const std::vector<Variant> table = {
      {"transformer_windowed", "transformer", [](Config& c) { c.sliding_window = tiny_window; }},
      {"transformer_untied", "transformer", [](Config& c) { c.tie_word_embeddings = false; }},
      {"transformer_without_positions", "transformer",
       [](Config& c) { c.self_position_embedding = PositionEmbedding::None; }},
      {"transformer_routed", "transformer", route_experts},
      {"transformer_biased", "transformer", [](Config& c) { c.attention_bias = c.mlp_bias = true; }},
      {"transformer_as_qwen2", "transformer", [](Config& c) { c.qkv_bias = true; }},
      {"transformer_as_qwen3", "transformer", [](Config& c) { c.qk_norm = true; }},
      {"transformer_as_gpt_neox", "transformer", as_gpt_neox},
      {"transformer_as_gpt2", "transformer", as_gpt2},
      {"transformer_rope_linear", "transformer",
       [](Config& c) { c.rope_scaling = {.kind = RopeScaling::Kind::Linear, .factor = 4}; }},
      {"transformer_rope_llama3", "transformer",
       [](Config& c) {
         c.rope_theta = 50;
         c.head_dim = 16;
         c.rope_scaling = {.kind = RopeScaling::Kind::Llama3, .factor = 8, .original_length = 40};
       }},
      {"transformer_rope_yarn", "transformer",
       [](Config& c) {
         c.rope_theta = 50;
         c.head_dim = 16;
         c.rope_scaling = {
             .kind = RopeScaling::Kind::Yarn, .factor = 8, .original_length = 40, .magnitude = 1.2};
       }},
      {"yoco_as_published", "yoco",
       [](Config& c) {
         c.rope_linspace = true;
         c.embedding_scale = 4;
         c.num_self_attention_heads = c.num_self_key_value_heads = 2;
       }},
      {"universal_windowed", "universal", [](Config& c) { c.sliding_window = tiny_window; }},
      {"universal_run_deeper", "universal", [](Config&) {}, 3},
      {"rins_one_recursed_layer", "rins", [](Config& c) { c.num_recursed_layers = 1; }},
      {"yoco_retention", "yoco", with_retention},
      {"yoco_three_self_layers", "yoco", [](Config& c) { c.num_self_layers = 3; }},
      {"yoco_u_rope_in_both", "yoco-u",
       [](Config& c) { c.cross_position_embedding = PositionEmbedding::Rope; }},
      {"yoco_u_retention", "yoco-u", with_retention},
      {"yoco_u_unwindowed", "yoco-u", [](Config& c) { c.sliding_window.reset(); }},
      {"yoco_u_routed", "yoco-u",
       [](Config& c) {
         route_experts(c);
         c.norm_topk_prob = false;
       }},
      {"yoco_u_scaled_embedding", "yoco-u", [](Config& c) { c.embedding_scale = 4; }},
      {"yoco_u_run_shallower", "yoco-u", [](Config&) {}, 1},
      {"yoco_u_run_deeper", "yoco-u", [](Config&) {}, 5},
      {"yoco_plus_looped", "yoco-plus", looped_and_windowed},
      {"yoco_plus_first_loop", "yoco-plus",
       [](Config& c) {
         looped_and_windowed(c);
         c.kv_residual_source = ResidualSource::FirstLoop;
       }},
      {"yoco_plus_weights_per_loop", "yoco-plus",
       [](Config& c) {
         looped_and_windowed(c);
         c.kv_residual_per_loop = true;
       }},
      {"yoco_plus_projected", "yoco-plus",
       [](Config& c) {
         looped_and_windowed(c);
         c.cross_kv = CrossKv::Projected;
       }},
  };
  return table;
}

}  // namespace

void PrintTo(const Model& model, std::ostream* out) { *out << model.name; }

Config tiny_config(const std::string& architecture) {
  Config c;
  c.architecture = architecture;
  find_architecture(architecture, "test").defaults(c);
  c.vocab_size = 29;
  c.hidden_size = 16;
  c.num_hidden_layers = 4;
  c.num_attention_heads = 4;
  c.num_key_value_heads = 2;
  c.head_dim = 4;
  c.intermediate_size = 24;
  if (c.sliding_window) c.sliding_window = tiny_window;
  return c;
}

void route_experts(Config& c) {
  c.num_experts = 5;
  c.num_experts_per_tok = 2;
  c.moe_intermediate_size = 8;
  c.shared_expert_intermediate_size = 8;
}

std::string test_name(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

Model tiny_model(const std::string& name, const Config& config, int loops) {
  check_config(config, name);
  return {name, config, loops > 0 ? loops : config.num_loops, build(config, Run{loops})};
}

std::vector<Model> tiny_models() {
  std::vector<Model> models;
  for (const Architecture& architecture : all_architectures()) {
    models.push_back(tiny_model(test_name(architecture.name), tiny_config(architecture.name)));
  }
  for (const Variant& variant : variants()) {
    Config config = tiny_config(variant.architecture);
    variant.change(config);
    models.push_back(tiny_model(variant.name, config, variant.loops));
  }
  return models;
}

}  // namespace onceover::test
