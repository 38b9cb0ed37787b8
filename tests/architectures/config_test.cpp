#include "architectures/config.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "architectures/presets.h"
#include "architectures/registry.h"
#include "support/errors.h"

namespace onceover {
namespace {

using Json = nlohmann::json;

Config read(const Json& json) { return config_from_json(json, "config.json"); }

void expect_complaint(const Json& json, const std::vector<std::string>& parts) {
  const std::string message = error_of([&] { read(json); });
  for (const std::string& part : parts)
    EXPECT_NE(message.find(part), std::string::npos) << "'" << message << "' lacks '" << part << "'";
  EXPECT_NE(message.find("config.json"), std::string::npos) << message;
}

TEST(Config, UnknownKeyNamesTheNearestKnownOne) {
  expect_complaint({{"architecture", "yoco-u"}, {"num_loop", 3}}, {"'num_loop'", "did you mean 'num_loops'"});
  expect_complaint({{"architecture", "yoco"}, {"sliding_windw", 3}}, {"did you mean 'sliding_window'"});
  expect_complaint({{"architecture", "yoco-v"}}, {"unknown architecture 'yoco-v'", "did you mean 'yoco"});
}

TEST(Config, WrongTypeIsRefusedWithKeyAndFinding) {
  const std::vector<std::pair<std::string, Json>> wrong = {
      {"hidden_size", "768"},        {"hidden_size", 768.0},     {"hidden_size", true},
      {"hidden_size", {768}},        {"rms_norm_eps", "1e-5"},   {"rms_norm_eps", false},
      {"rope_theta", {{"base", 1}}}, {"tie_word_embeddings", 1}, {"sliding_window", "8"},
      {"initializer", "gauss"},      {"initializer", 0},         {"bos_token_id", {1, 2}}};
  for (const auto& [key, value] : wrong) {
    Json json = {{"architecture", "transformer"}};
    json[key] = value;
    expect_complaint(json, {"'" + key + "'", "must be", "found"});
  }
  expect_complaint({{"architecture", 5}}, {"'architecture'", "a string"});
  expect_complaint({{"hidden_size", 64}}, {"'architecture' is missing"});
}

TEST(Config, ValueOutsideItsRangeIsRefused) {
  const std::vector<std::pair<std::string, Json>> wrong = {
      {"vocab_size", 0},          {"hidden_size", -64},       {"num_hidden_layers", 1 << 20},
      {"num_attention_heads", 0}, {"rms_norm_eps", -1e-5},    {"rope_theta", 0.0},
      {"rope_theta", 1e308},      {"sliding_window", 0},      {"initializer_range", 101},
      {"bos_token_id", -1},       {"vocab_size", UINT64_MAX}, {"vocab_size", INT64_MIN}};
  for (const auto& [key, value] : wrong) {
    Json json = {{"architecture", "transformer"}};
    json[key] = value;
    expect_complaint(json, {"'" + key + "'", "from "});
  }
}

TEST(Config, SizesThatDoNotFitTogetherAreRefused) {
  const auto with = [](const char* architecture, Json keys) {
    keys["architecture"] = architecture;
    return keys;
  };
  expect_complaint(with("transformer", {{"hidden_size", 100}, {"num_attention_heads", 3}}),
                   {"hidden_size 100"});
  expect_complaint(with("transformer", {{"num_key_value_heads", 5}}), {"num_key_value_heads 5"});
  expect_complaint(with("transformer", {{"head_dim", 33}}), {"head_dim 33 must be even"});
  expect_complaint(with("transformer", {{"num_attention_heads", 4096}, {"head_dim", 4096}}), {"wider"});
  expect_complaint(with("yoco", {{"num_hidden_layers", 1}}), {"at least 2 layers"});
  expect_complaint(with("yoco", {{"num_self_layers", 12}}), {"num_self_layers 12"});
  expect_complaint(with("rins", {{"num_recursed_layers", 12}}), {"num_recursed_layers 12"});
  expect_complaint(with("yoco-u", {{"num_hidden_layers", 1024}, {"num_loops", 1024}}), {"16384"});
  expect_complaint(with("transformer", {{"num_experts", 4}}), {"moe_intermediate_size"});
  expect_complaint(with("transformer", {{"num_experts", 4}, {"moe_intermediate_size", 8}}),
                   {"exceeds num_experts"});
  expect_complaint(with("yoco", {{"self_mixer", "retention"}, {"num_retention_heads", 7}}),
                   {"retention heads"});
}

TEST(Config, KeyThatMeansNothingForTheArchitectureIsRefused) {
  const std::vector<std::pair<std::string, Json>> wrong = {
      {"transformer", {{"num_loops", 3}}},          {"yoco", {{"num_loops", 2}}},
      {"transformer", {{"total_ut_steps", 4}}},     {"universal", {{"self_mixer", "retention"}}},
      {"yoco-plus", {{"self_mixer", "retention"}}}, {"yoco-u", {{"kv_residual_scale", 30}}},
      {"yoco", {{"num_recursed_layers", 2}}},       {"rins", {{"num_self_layers", 2}}}};
  for (const auto& [architecture, keys] : wrong) {
    Json json = keys;
    json["architecture"] = architecture;
    expect_complaint(json, {"means nothing for architecture '" + architecture + "'"});
  }
}

TEST(Config, NullMeansNotGivenExceptWhereItIsAValue) {
  EXPECT_EQ(read({{"architecture", "yoco-u"}}).sliding_window, 512);
  EXPECT_EQ(read({{"architecture", "yoco-u"}, {"sliding_window", nullptr}}).sliding_window, std::nullopt);
  EXPECT_EQ(read({{"architecture", "yoco-u"}, {"num_loops", nullptr}}).num_loops, 3);
  EXPECT_EQ(read({{"architecture", "yoco-u"}, {"rms_norm_eps", nullptr}}).rms_norm_eps, 1e-5);
  EXPECT_EQ(
      read({{"architecture", "transformer"}, {"head_dim", nullptr}, {"rope_scaling", nullptr}}).head_dim, 64);
  EXPECT_EQ(read({{"architecture", "yoco-u"}, {"num_loops", nullptr}, {"total_ut_steps", 4}}).num_loops, 4);
  EXPECT_EQ(read({{"architecture", "yoco-u"}, {"total_ut_steps", nullptr}, {"num_loops", 4}}).num_loops, 4);
}

TEST(Config, OtherProjectsNamesAreReadAndMustAgree) {
  EXPECT_EQ(read({{"architecture", "universal"}, {"total_ut_steps", 4}}).num_loops, 4);
  EXPECT_EQ(read({{"architecture", "yoco-u"}, {"mean_recurrence", 5}}).num_loops, 5);
  EXPECT_EQ(read({{"architecture", "rins"}, {"n_layers_in_recurrent_block", 4}}).num_recursed_layers, 4);
  EXPECT_EQ(read({{"architecture", "universal"}, {"total_ut_steps", 4}, {"num_loops", 4}}).num_loops, 4);
  expect_complaint({{"architecture", "universal"}, {"total_ut_steps", 4}, {"num_loops", 2}},
                   {"differ (4 and 2)"});
  expect_complaint({{"architecture", "universal"}, {"total_ut_steps", 4}, {"mean_recurrence", 2}},
                   {"differ"});
  expect_complaint({{"architecture", "universal"}, {"total_ut_steps", "many"}}, {"'num_loops'", "integer"});
}

TEST(Config, LlamaIsTheTransformerAndForeignFeaturesAreRefused) {
  const Config c = read({{"model_type", "llama"}, {"hidden_act", "silu"}, {"torch_dtype", "bfloat16"}});
  EXPECT_EQ(c.architecture, "transformer");
  expect_complaint({{"model_type", "llama"}, {"hidden_act", "gelu"}}, {"'hidden_act'", "\"silu\""});
  expect_complaint({{"model_type", "llama"}, {"rope_scaling", {{"factor", 8}}}}, {"'rope_scaling'"});
  expect_complaint({{"model_type", "gemma"}}, {"unknown architecture 'gemma'"});
}

TEST(Config, LlamaWithoutOurKeyTakesHuggingFacesDefaults) {
  const Config c = read({{"model_type", "llama"}});
  EXPECT_EQ(std::tuple(c.vocab_size, c.hidden_size, c.num_hidden_layers, c.num_key_value_heads, c.head_dim),
            std::tuple(32000, 4096, 32, 32, 128));
  EXPECT_EQ(std::tuple(c.intermediate_size, c.max_position_embeddings, c.tie_word_embeddings),
            std::tuple(11008, 2048, false));
  EXPECT_EQ(std::tuple(c.rms_norm_eps, c.rope_theta), std::tuple(1e-6, 10000.0));
  EXPECT_EQ(c.bos_token_id, 1);
  EXPECT_EQ(c.eos_token_id, std::vector<int>{2});
  const Config ours = read({{"model_type", "llama"}, {"architecture", "transformer"}});
  EXPECT_TRUE(ours.tie_word_embeddings);
  EXPECT_EQ(ours.rms_norm_eps, 1e-5);
}

TEST(Config, SeveralEndTokensAreKept) {
  const Json ids = {128001, 128008, 128009};
  const Config c = read({{"model_type", "llama"}, {"vocab_size", 128256}, {"eos_token_id", ids}});
  EXPECT_EQ(c.eos_token_id, ids.get<std::vector<int>>());
  EXPECT_EQ(read(config_to_json(c)).eos_token_id, c.eos_token_id);
  EXPECT_TRUE(read({{"model_type", "llama"}, {"eos_token_id", nullptr}}).eos_token_id.empty());
  for (const Json& wrong :
       {Json::array(), Json(std::vector<int>(65, 1)), Json{1, "2"}, Json{1, -2}, Json{{1}}})
    expect_complaint({{"architecture", "transformer"}, {"eos_token_id", wrong}}, {"'eos_token_id' must be"});
}

TEST(Config, RopeParametersOfThePlainKindAreRead) {
  const auto with = [](const Json& parameters) {
    return Json{{"model_type", "llama"}, {"rope_parameters", parameters}};
  };
  EXPECT_EQ(read(with({{"rope_theta", 5e5}, {"rope_type", "default"}})).rope_theta, 5e5);
  EXPECT_EQ(read(with({{"rope_type", "default"}})).rope_theta, 1e4);
  EXPECT_EQ(read(with(nullptr)).rope_theta, 1e4);
  expect_complaint(with({{"rope_theta", 5e5}, {"rope_type", "llama3"}}), {"'rope_scaling'", "'factor'"});
  expect_complaint(with({{"factor", 8.0}}), {"'rope_scaling'", "rope_type"});
  expect_complaint(with("default"), {"'rope_parameters'", "an object"});
  expect_complaint(with({{"rope_theta", "many"}}), {"'rope_theta'", "a number"});
  Json both = with({{"rope_theta", 5e5}});
  both["rope_theta"] = 1e4;
  expect_complaint(both, {"'rope_parameters'", "differ"});
}

TEST(Config, SettingsOfPartsThatAreAbsentAreRefused) {
  for (const char* key :
       {"num_experts_per_tok", "moe_intermediate_size", "shared_expert_intermediate_size"}) {
    expect_complaint({{"architecture", "yoco"}, {key, 64}}, {key, "means nothing while num_experts is 0"});
  }
  expect_complaint({{"architecture", "yoco"}, {"norm_topk_prob", false}}, {"while num_experts is 0"});
  for (const char* key : {"num_retention_heads", "retention_temperature"}) {
    expect_complaint({{"architecture", "yoco"}, {key, 2}}, {key, "means nothing while self_mixer"});
  }
}

TEST(Config, TokensOutsideTheVocabularyAreRefused) {
  for (const char* key : {"bos_token_id", "eos_token_id", "pad_token_id"}) {
    const Json json = {{"architecture", "yoco"}, {"vocab_size", 100}};
    Json inside = json, outside = json;
    inside[key] = 99, outside[key] = 100;
    EXPECT_NO_THROW(read(inside));
    expect_complaint(outside, {key, "100 must be less than vocab_size 100"});
  }
}

TEST(Config, HeadsLeftOutFollowTheOtherSizes) {
  const Config c = read({{"architecture", "transformer"}, {"hidden_size", 512}, {"num_attention_heads", 4}});
  EXPECT_EQ(c.head_dim, 128);
  EXPECT_EQ(c.num_key_value_heads, 4);
}

TEST(Config, EveryPresetReadsBackAsItself) {
  for (const std::string& name : preset_names()) {
    const Config preset = *find_preset(name);
    EXPECT_NO_THROW(check_config(preset, name));
    const nlohmann::ordered_json json = config_to_json(preset);
    const Config back = config_from_text(json.dump(), name);
    EXPECT_EQ(config_to_json(back), json) << name;
    EXPECT_EQ(build(back).fingerprint(), build(preset).fingerprint()) << name;
  }
}

TEST(Config, ChangedSettingsReadBackAsThemselves) {
  for (const Architecture& architecture : all_architectures()) {
    Config c = *find_preset(architecture.name + "-tiny");
    c.sliding_window.reset();
    c.eos_token_id = {7, 9};
    c.rope_theta = 1234.5;
    c.tie_word_embeddings = false;
    c.initializer = Initializer::Yoco;
    const Config back = config_from_text(config_to_json(c).dump(), architecture.name);
    EXPECT_EQ(back.sliding_window, std::nullopt) << architecture.name;
    EXPECT_EQ(back.eos_token_id, (std::vector<int>{7, 9})) << architecture.name;
    EXPECT_EQ(back.rope_theta, 1234.5) << architecture.name;
    EXPECT_FALSE(back.tie_word_embeddings) << architecture.name;
    EXPECT_EQ(back.initializer, Initializer::Yoco) << architecture.name;
  }
}

TEST(Loops, OutsideWhatTheModelHasAreRefused) {
  EXPECT_THROW(build(*find_preset("transformer-tiny"), {.loops = 2}), Error);
  EXPECT_THROW(build(*find_preset("yoco-u-tiny"), {.loops = 1025}), Error);
  Config deep = *find_preset("yoco-u-tiny");
  deep.num_hidden_layers = 1024;
  EXPECT_THROW(build(deep, {.loops = 17}), Error);
  Config per_loop = *find_preset("yoco-plus-tiny");
  per_loop.num_loops = 2;
  per_loop.kv_residual_per_loop = true;
  EXPECT_THROW(build(per_loop, {.loops = 3}), Error);
  EXPECT_NO_THROW(build(per_loop, {.loops = 1}));
}

}  // namespace
}  // namespace onceover
