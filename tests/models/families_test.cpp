// Every model type, as its makers name its tensors, against straight lines of its official code.
#include "models/as_gguf.h"
#include "models/support.h"

namespace onceover {
namespace {

class StraightLines : public ::testing::Test {
 protected:
  void expect_checkpoint(const Official& official, const straight::Rows& expected,
                         const char* config_name = "config.json") {
    const TemporaryFolder folder;
    official.save(folder, 1 << 30, config_name);
    expect_logits(oracle_logits(ModelFile(folder.path()), text), expected);
  }
  void expect_gguf(const std::string& bytes, const straight::Rows& expected) {
    const TemporaryFolder folder;
    expect_logits(oracle_logits(ModelFile(write_file(folder, "m.gguf", bytes)), text), expected);
  }
  void expect_llama(const Official& official, const LlamaForm& form) {
    expect_checkpoint(official, llama_logits(official.tensors, form, text));
  }

  test::FreshRandom random;
  std::vector<int> text = random.tokens(14, family_vocab);
};

TEST_F(StraightLines, AgreeWithLlama) {
  LlamaForm form;
  expect_llama(llama(random, form), form);
  form.tied = true;
  expect_llama(llama(random, form), form);
}

TEST_F(StraightLines, AgreeWithLlamaAndBiases) {
  LlamaForm form;
  form.qkv_bias = form.o_bias = form.mlp_bias = true;
  Official official = llama(random, form);
  official.config["attention_bias"] = official.config["mlp_bias"] = true;
  expect_llama(official, form);
}

// By the words of transformers: waves longer than the original length over low_freq_factor are stretched by
// factor.
straight::Vector llama3_frequencies(double theta, size_t dim, double factor, double original) {
  straight::Vector f = straight::frequencies(theta, dim);
  for (double& inverse : f) {
    const double wavelength = 2 * M_PI / inverse;
    const double smooth = (original / wavelength - 1) / (4.0 - 1);
    if (wavelength > original)
      inverse /= factor;
    else if (wavelength >= original / 4)
      inverse *= (1 - smooth) / factor + smooth;
  }
  return f;
}

TEST_F(StraightLines, AgreeWithTheScalingOfLlama3) {
  LlamaForm form;
  form.head_dim = 8;
  form.frequencies = llama3_frequencies(10000, 8, 8, 40);
  Official official = llama(random, form);
  official.config["rope_scaling"] = {{"rope_type", "llama3"},
                                     {"factor", 8.0},
                                     {"low_freq_factor", 1.0},
                                     {"high_freq_factor", 4.0},
                                     {"original_max_position_embeddings", 40}};
  expect_llama(official, form);
}

TEST_F(StraightLines, AgreeWithLinearScalingUnderEitherName) {
  LlamaForm form;
  for (double& f : form.frequencies) f /= 4;
  Official official = llama(random, form);
  official.config["rope_scaling"] = {{"type", "linear"}, {"factor", 4.0}};
  expect_llama(official, form);
  official.config.erase("rope_scaling");
  official.config.erase("rope_theta");
  official.config["rope_parameters"] = {{"rope_type", "linear"}, {"factor", 4.0}, {"rope_theta", 10000.0}};
  expect_llama(official, form);
}

TEST_F(StraightLines, AgreeWithMistralWindowedOrNot) {
  LlamaForm form;
  form.model_type = "mistral";
  form.window = 5;
  Official official = llama(random, form);
  official.config["sliding_window"] = 5;
  official.config["architectures"] = {"MistralForCausalLM"};
  expect_llama(official, form);
  form.window = 0;
  official.config["sliding_window"] = nullptr;
  expect_llama(official, form);
}

TEST_F(StraightLines, AgreeWithQwen2) {
  LlamaForm form;
  form.model_type = "qwen2";
  form.qkv_bias = true;
  Official official = llama(random, form);
  official.config.update({{"use_sliding_window", false}, {"sliding_window", 3}, {"max_window_layers", 2}});
  expect_llama(official, form);
}

TEST_F(StraightLines, AgreeWithQwen2AndYarn) {
  LlamaForm form;
  form.model_type = "qwen2";
  form.qkv_bias = true;
  form.head_dim = 8;
  // theta 10000, 8 dims, 64 rows: the ramp lies between pairs 0 and 2.
  form.frequencies = {1, 0.1 * (0.5 / 4 + 0.5), 0.01 / 4, 0.001 / 4};
  form.rope_scale = 0.1 * std::log(4.0) + 1;
  Official official = llama(random, form);
  official.config["rope_scaling"] = {
      {"rope_type", "yarn"}, {"factor", 4.0}, {"original_max_position_embeddings", 64}};
  expect_llama(official, form);
}

TEST_F(StraightLines, AgreeWithQwen3) {
  LlamaForm form;
  form.model_type = "qwen3";
  form.qk_norm = true;
  form.head_dim = 6;  // 4 heads of 6 on a width of 16
  form.frequencies = straight::frequencies(10000, 6);
  expect_llama(llama(random, form), form);
}

TEST_F(StraightLines, AgreeWithGptNeoxAndItsGguf) {
  for (const bool parallel : {true, false}) {
    const Official official = gpt_neox(random, parallel);
    const straight::Rows expected = gpt_neox_logits(official.tensors, parallel, text);
    expect_checkpoint(official, expected);
    expect_gguf(gpt_neox_as_gguf(official), expected);
  }
}

TEST_F(StraightLines, AgreeWithGpt2AndItsGguf) {
  for (const char* prefix : {"", "transformer."}) {
    Official official = gpt2(random, prefix);
    const straight::Rows expected = gpt2_logits(official.tensors, prefix, text);
    expect_checkpoint(official, expected);
    expect_gguf(gpt2_as_gguf(official, prefix), expected);
    official.tensors.all["lm_head.weight"] = official.tensors.all[std::string(prefix) + "wte.weight"];
    expect_checkpoint(official, expected);
  }
}

TEST_F(StraightLines, AgreeWithOuro) {
  const Official official = ouro(random);
  expect_checkpoint(official, ouro_logits(official.tensors, text));
}

TEST_F(StraightLines, AgreeWithYocoAsPublished) {
  for (const size_t window : {4, 0}) {
    const Official official = yoco(random, window);
    expect_checkpoint(official, yoco_logits(official.tensors, window, text), "params.json");
  }
}

TEST_F(StraightLines, AgreeWithLlamaAndQwenAsGguf) {
  for (const char* architecture : {"llama", "qwen2", "qwen3"}) {
    LlamaForm form;
    form.head_dim = 8;
    form.frequencies = straight::frequencies(10000, 8);
    form.qkv_bias = architecture == std::string("qwen2");
    form.qk_norm = architecture == std::string("qwen3");
    form.tied = form.qk_norm;
    const Official official = llama(random, form);
    expect_gguf(llama_as_gguf(official, form, architecture), llama_logits(official.tensors, form, text));
  }
}

TEST_F(StraightLines, AgreeWithLlama3AsGgufKnownByItsDivisors) {
  LlamaForm form;
  form.head_dim = 16;
  form.frequencies = llama3_frequencies(10000, 16, 32, 8192);
  const Official official = llama(random, form);
  std::vector<float> divisors;
  const straight::Vector plain = straight::frequencies(10000, 16);
  for (size_t j = 0; j < plain.size(); j++)
    divisors.push_back(static_cast<float>(plain[j] / form.frequencies[j]));
  const TemporaryFolder folder;
  const ModelFile file(write_file(folder, "m.gguf", llama_as_gguf(official, form, "llama", divisors)));
  EXPECT_EQ(file.config().rope_scaling.kind, RopeScaling::Kind::Llama3);
  EXPECT_NEAR(file.config().rope_scaling.factor, 32, 1e-4);
  expect_logits(oracle_logits(file, text), llama_logits(official.tensors, form, text));
  divisors[0] = 2;
  EXPECT_TRUE(
      contains(error_of([&] {
                 ModelFile(write_file(folder, "odd.gguf", llama_as_gguf(official, form, "llama", divisors)));
               }),
               "'rope_freqs.weight'"));
}

}  // namespace
}  // namespace onceover
