// `onceover convert` gives back the checkpoint that a model came from: names, shapes and numbers of its
// tensors, and a config of the same meaning in the words of transformers.
#include "cli/program.h"
#include "models/as_gguf.h"
#include "models/support.h"

namespace onceover {
namespace {

// Masks and tables of angles that old files hold.
bool is_idle(const std::string& name) {
  for (const char* end : {".attention.bias", ".attn.bias", ".inv_freq"}) {
    if (name.ends_with(end)) return true;
  }
  return false;
}

class OfficialNames : public ::testing::Test {
 protected:
  // prefix: what the written names have before those of `official`.
  void expect_given_back(const Official& official, const std::string& from, const std::string& prefix = "") {
    const std::string to = (folder / fmt::format("to{}", conversions++)).string();
    const ProgramResult result = run_program({"convert", from, to, "--dtype", "f32"});
    ASSERT_EQ(result.status, 0) << result.err;
    const TensorFiles files(to);
    size_t expected = 0;
    for (const auto& [name, tensor] : official.tensors.all) {
      if (is_idle(name)) continue;
      expected++;
      const auto found = files.tensors().find(prefix + name);
      ASSERT_NE(found, files.tensors().end()) << name;
      EXPECT_EQ(found->second.shape, tensor.shape) << name;
      EXPECT_EQ(to_f32(found->second), tensor.numbers) << name;
    }
    EXPECT_EQ(files.tensors().size(), expected);
    EXPECT_EQ(config_to_json(ModelFile(to).config()), config_to_json(ModelFile(from).config()));
    const auto config = nlohmann::json::parse(read_bytes(to + "/config.json"));
    EXPECT_EQ(config["model_type"], official.config["model_type"]);
    for (const char* key : {"hidden_act", "activation_function", "n_inner", "n_positions", "rotary_pct",
                            "rotary_emb_base", "layer_norm_eps", "use_parallel_residual", "total_ut_steps"}) {
      if (config.contains(key) && official.config.contains(key)) {
        EXPECT_EQ(config[key], official.config[key]) << key;
      }
    }
    EXPECT_EQ(run_program({"inspect", to, "--verify"}).status, 0);
  }

  void expect_given_back(const Official& official) {
    const TemporaryFolder source;
    official.save(source);
    expect_given_back(official, source.path().string());
  }

  test::FreshRandom random;
  TemporaryFolder folder;
  int conversions = 0;
};

TEST_F(OfficialNames, ComeBackForLlamaMistralQwenAndOuro) {
  LlamaForm form;
  expect_given_back(llama(random, form));
  form.tied = true;
  expect_given_back(llama(random, form));
  form.model_type = "mistral";
  Official mistral = llama(random, form);
  mistral.config["sliding_window"] = 5;
  expect_given_back(mistral);
  form.model_type = "qwen2";
  form.qkv_bias = true;
  expect_given_back(llama(random, form));
  form.model_type = "qwen3";
  form.qkv_bias = false;
  form.qk_norm = true;
  expect_given_back(llama(random, form));
  expect_given_back(ouro(random));
}

TEST_F(OfficialNames, ComeBackForGptNeoxFromItsFolderAndFromGguf) {
  for (const bool parallel : {true, false}) expect_given_back(gpt_neox(random, parallel));
  const Official official = gpt_neox(random, true);
  expect_given_back(official, write_file(folder, "neox.gguf", gpt_neox_as_gguf(official)));
}

TEST_F(OfficialNames, ComeBackForGpt2WithTheirPrefix) {
  expect_given_back(gpt2(random, "transformer."));
  const Official bare = gpt2(random, "");
  const TemporaryFolder source;
  bare.save(source);
  expect_given_back(bare, source.path().string(), "transformer.");
  expect_given_back(bare, write_file(folder, "gpt2.gguf", gpt2_as_gguf(bare, "")), "transformer.");
}

TEST_F(OfficialNames, ComeBackForAFineTunedModelThatWasContinued) {
  const TemporaryFolder source;
  const Official official = gpt2(random, "transformer.");
  official.save(source);
  const std::string run = (folder / "run").string(), settings = (folder / "settings.toml").string(),
                    to = (folder / "to").string();
  std::ofstream(settings) << fmt::format(R"(
    [model]
    init = "{}"
    [data]
    task = "swaps"
    sequence_length = 16
    [swaps]
    places = 3
    [batch]
    tokens = 32
    micro_sequences = 2
    [run]
    folder = "{}"
    threads = 1
    tensorboard = false
    )",
                                         source.path().string(), run);
  for (const char* steps : {"--schedule.steps=2", "--schedule.steps=4"}) {
    const ProgramResult trained = run_program({"train", settings, steps, "--resume=auto"});
    ASSERT_EQ(trained.status, 0) << trained.err;
  }
  EXPECT_TRUE(std::filesystem::exists(run + "/step_000004"));
  const ProgramResult result = run_program({"convert", run, to, "--dtype", "f32"});
  ASSERT_EQ(result.status, 0) << result.err;
  const ModelFile tuned(run), converted(to);
  EXPECT_EQ(converted.read(build(converted.config())), tuned.read(build(tuned.config())));
  const TensorFiles files(to);
  const straight::Tensor& before = official.tensors.all.at("transformer.h.0.attn.c_attn.weight");
  const TensorView& after = files.tensors().at("transformer.h.0.attn.c_attn.weight");
  EXPECT_EQ(after.shape, before.shape);
  const std::vector<float> numbers = to_f32(after);
  double moved = 0;
  for (size_t i = 0; i < numbers.size(); i++)
    moved =
        std::max(moved, std::abs(static_cast<double>(numbers[i]) - static_cast<double>(before.numbers[i])));
  EXPECT_GT(moved, 0);
  EXPECT_LT(moved, 0.1);  // still that matrix, and no other order of its rows
}

// A GPT-2 with rotary positions beside a window: transformers has no such model.
TEST_F(OfficialNames, AreOursWhereTransformersHasNoSuchModel) {
  const std::string from = (folder / "from").string(), to = (folder / "to").string();
  write_file(folder, "config.json",
             R"({"architecture": "transformer", "vocab_size": 37, "hidden_size": 16, "num_hidden_layers": 2,
                 "num_attention_heads": 4, "intermediate_size": 24, "norm": "layer", "feed_forward": "gelu",
                 "sliding_window": 5})");
  ASSERT_EQ(run_program({"init", (folder / "config.json").string(), from}).status, 0);
  ASSERT_EQ(run_program({"convert", from, to}).status, 0);
  EXPECT_TRUE(TensorFiles(to).tensors().contains("model.layers.1.self_attn.q_proj.weight"));
  EXPECT_EQ(config_to_json(ModelFile(to).config()), config_to_json(ModelFile(from).config()));
}

}  // namespace
}  // namespace onceover
