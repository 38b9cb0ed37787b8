#include "architectures/huggingface_config.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "architectures/registry.h"
#include "support/errors.h"
#include "support/places.h"
#include "support/temporary_folder.h"

namespace onceover {
namespace {

using Json = nlohmann::json;

Config read(const Json& json) { return config_from_json(json, "config.json"); }

TEST(HuggingfaceConfig, KeysLeftOutTakeTheDefaultsOfTransformers) {
  const Config mistral = read({{"model_type", "mistral"}});
  EXPECT_EQ(std::tuple(mistral.intermediate_size, mistral.num_key_value_heads, mistral.sliding_window),
            std::tuple(14336, 8, std::optional<int>(4096)));
  const Config qwen2 = read({{"model_type", "qwen2"}});
  EXPECT_EQ(std::tuple(qwen2.vocab_size, qwen2.qkv_bias, qwen2.attention_bias, qwen2.sliding_window),
            std::tuple(151936, true, false, std::optional<int>()));
  const Config qwen3 = read({{"model_type", "qwen3"}});
  EXPECT_EQ(std::tuple(qwen3.head_dim, qwen3.qk_norm, qwen3.qkv_bias), std::tuple(128, true, false));
  const Config neox = read({{"model_type", "gpt_neox"}});
  EXPECT_EQ(std::tuple(neox.hidden_size, neox.num_hidden_layers, neox.head_dim, neox.partial_rotary_factor),
            std::tuple(6144, 44, 96, 0.25));
  EXPECT_EQ(std::tuple(neox.norm, neox.feed_forward, neox.use_parallel_residual, neox.attention_bias),
            std::tuple(NormKind::Layer, FeedForward::Gelu, true, true));
  const Config gpt2 = read({{"model_type", "gpt2"}});
  EXPECT_EQ(
      std::tuple(gpt2.vocab_size, gpt2.hidden_size, gpt2.intermediate_size, gpt2.max_position_embeddings),
      std::tuple(50257, 768, 3072, 1024));
  EXPECT_EQ(std::tuple(gpt2.self_position_embedding, gpt2.tie_word_embeddings, gpt2.mlp_bias),
            std::tuple(PositionEmbedding::Learned, true, true));
  const Config ouro = read({{"model_type", "ouro"}, {"total_ut_steps", 3}});
  EXPECT_EQ(std::tuple(ouro.architecture, ouro.num_loops), std::tuple("ouro", 3));
}

TEST(HuggingfaceConfig, ReadsTheSizesOfGpt2UnderItsOwnNames) {
  const Config c = read({{"model_type", "gpt2"},
                         {"n_embd", 64},
                         {"n_head", 4},
                         {"n_layer", 3},
                         {"n_positions", 128},
                         {"n_inner", 200},
                         {"layer_norm_epsilon", 1e-3},
                         {"activation_function", "gelu"}});
  EXPECT_EQ(std::tuple(c.hidden_size, c.num_attention_heads, c.num_hidden_layers, c.max_position_embeddings,
                       c.intermediate_size, c.rms_norm_eps, c.feed_forward),
            std::tuple(64, 4, 3, 128, 200, 1e-3, FeedForward::Gelu));
  EXPECT_EQ(read({{"model_type", "gpt2"}, {"n_embd", 48}, {"n_inner", nullptr}}).intermediate_size, 192);
}

TEST(HuggingfaceConfig, WindowsAreReadWhereEveryLayerHasTheSame) {
  const Json qwen = {{"model_type", "qwen2"}, {"num_hidden_layers", 4}, {"sliding_window", 16}};
  const auto with = [&](const Json& more) {
    Json json = qwen;
    json.update(more);
    return read(json).sliding_window;
  };
  EXPECT_EQ(with(Json::object()), std::nullopt);
  EXPECT_EQ(with({{"use_sliding_window", true}, {"max_window_layers", 0}}), 16);
  EXPECT_EQ(with({{"use_sliding_window", true}, {"max_window_layers", 4}}), std::nullopt);
  EXPECT_THROW(with({{"use_sliding_window", true}, {"max_window_layers", 2}}), Error);
  const std::string full = "full_attention", sliding = "sliding_attention";
  EXPECT_EQ(with({{"layer_types", {sliding, sliding, sliding, sliding}}}), 16);
  EXPECT_EQ(with({{"layer_types", {full, full, full, full}}}), std::nullopt);
  EXPECT_THROW(with({{"layer_types", {full, sliding, full, sliding}}}), Error);
}

TEST(HuggingfaceConfig, KeysThatSayNothingAreDropped) {
  const Config c = read({{"model_type", "llama"},
                         {"pad_token_id", -1},
                         {"attention_dropout", 0.5},
                         {"pretraining_tp", 1},
                         {"some_bookkeeping", {1, 2}},
                         {"logit_scale", 1.0}});
  EXPECT_EQ(c.pad_token_id, std::nullopt);
}

TEST(HuggingfaceConfig, WrittenAgainItIsTheModelTypeThatTransformersKnows) {
  const auto words = [](const char* type) {
    return config_to_json(read({{"model_type", type}}))["model_type"];
  };
  for (const char* type : {"llama", "mistral", "qwen2", "qwen3", "ouro"}) EXPECT_EQ(words(type), type);
  for (const char* type : {"gpt2", "gpt_neox"})
    EXPECT_EQ(words(type), "transformer") << "their tensors have our names";
}

TEST(HuggingfaceConfig, EveryTypeReadsBackAsItself) {
  for (const std::string& type : huggingface_model_types()) {
    Config config = read({{"model_type", type}});
    config.rope_scaling = {
        .kind = RopeScaling::Kind::Yarn, .factor = 4, .original_length = 4096, .magnitude = 1.5};
    const Config back = config_from_text(config_to_json(config).dump(), type);
    EXPECT_EQ(config_to_json(back), config_to_json(config)) << type;
    EXPECT_EQ(build(back).fingerprint(), build(config).fingerprint()) << type;
  }
}

// The docs' table names every type.
TEST(HuggingfaceConfig, TypesAreInTheDocumentation) {
  const std::string page = read_bytes((test::source_folder() / "docs/imported-models.md").string());
  for (const std::string& type : huggingface_model_types())
    EXPECT_NE(page.find("`" + type + "`"), std::string::npos) << type;
}

}  // namespace
}  // namespace onceover
