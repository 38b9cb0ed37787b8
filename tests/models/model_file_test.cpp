#include "models/model_file.h"

#include "cli/program.h"
#include "cpu/trainer.h"
#include "models/as_gguf.h"
#include "models/llama2c.h"
#include "models/support.h"
#include "support/gguf_writer.h"
#include "support/training.h"

namespace onceover {
namespace {

std::string refusal(const std::filesystem::path& path) {
  return error_of([&] {
    const ModelFile file(path);
    file.bind(build(file.config()));
  });
}

// llama2.c's file of a model, its rotary pairs side by side.
std::string as_llama2c(const Official& o, const LlamaForm& f) {
  const auto header = {f.hidden,   int64_t{24}, int64_t{2},
                       f.heads,    f.kv_heads,  f.tied ? int64_t{family_vocab} : int64_t{-family_vocab},
                       int64_t{64}};
  std::string bytes;
  for (const int64_t size : header) bytes += little_endian(static_cast<int32_t>(size));
  const auto write = [&](const std::string& name, bool pairs) {
    const straight::Tensor& t = o.tensors.all.at(name);
    const int64_t columns = t.shape.size() == 2 ? t.shape[1] : 1, d = f.head_dim;
    for (int64_t row = 0; row < t.shape[0]; row++) {
      const int64_t from = pairs ? row / d * d + row % 2 * (d / 2) + row % d / 2 : row;
      for (int64_t c = 0; c < columns; c++) bytes += little_endian(t.numbers[from * columns + c]);
    }
  };
  const auto layers = [&](const char* name, bool pairs = false) {
    for (int l = 0; l < 2; l++) write(fmt::format("model.layers.{}.{}.weight", l, name), pairs);
  };
  write("model.embed_tokens.weight", false);
  layers("input_layernorm");
  layers("self_attn.q_proj", true);
  layers("self_attn.k_proj", true);
  layers("self_attn.v_proj");
  layers("self_attn.o_proj");
  layers("post_attention_layernorm");
  layers("mlp.gate_proj");
  layers("mlp.down_proj");
  layers("mlp.up_proj");
  write("model.norm.weight", false);
  bytes.append(static_cast<size_t>(64 * f.head_dim) * sizeof(float), '\0');
  if (!f.tied) write("lm_head.weight", false);
  return bytes;
}

TEST(ModelFile, ReadsLlama2cTiedAndNot) {
  test::FreshRandom random;
  const std::vector<int> text = random.tokens(12, family_vocab);
  for (const bool tied : {true, false}) {
    LlamaForm form;
    form.tied = tied;
    const Official official = llama(random, form);
    const TemporaryFolder folder;
    const ModelFile file(write_file(folder, "m.bin", as_llama2c(official, form)));
    EXPECT_EQ(file.config().tie_word_embeddings, tied);
    expect_logits(oracle_logits(file, text), llama_logits(official.tensors, form, text));
  }
}

TEST(ModelFile, RefusesLlama2cOfAnotherSize) {
  test::FreshRandom random;
  const LlamaForm form;
  const std::string sound = as_llama2c(llama(random, form), form);
  const TemporaryFolder folder;
  std::vector<std::string> wrong = {"", sound.substr(0, 27), sound.substr(0, sound.size() - 1), sound + "x"};
  for (size_t at = 0; at < 28; at += 4) {
    for (const int32_t lie : {0, 1, INT32_MAX, INT32_MIN})
      wrong.push_back(sound.substr(0, at) + little_endian(lie) + sound.substr(at + 4));
  }
  for (const std::string& bytes : wrong) {
    const std::string message = refusal(write_file(folder, "m.bin", bytes));
    EXPECT_TRUE(contains(message, "m.bin")) << message;
  }
}

TEST(ModelFile, ReadsShardsOfHalfPrecision) {
  test::FreshRandom random;
  const LlamaForm form;
  Official official = llama(random, form);
  TensorMap halves;
  std::map<std::string, std::vector<std::byte>> bytes;
  for (auto& [name, tensor] : official.tensors.all) {
    const DType dtype = name.find("mlp") == std::string::npos ? DType::BF16 : DType::F16;
    bytes[name] = encode(tensor.numbers, dtype);
    halves[name] = {dtype, tensor.shape, bytes[name]};
    tensor.numbers = to_f32(halves[name]);
  }
  const TemporaryFolder folder;
  std::ofstream(folder / "config.json") << official.config.dump();
  write_tensor_files(folder.path(), halves, 2000);
  EXPECT_TRUE(std::filesystem::exists(folder / "model.safetensors.index.json"));
  const std::vector<int> text = random.tokens(9, family_vocab);
  expect_logits(oracle_logits(ModelFile(folder.path()), text), llama_logits(official.tensors, form, text));
}

TEST(ModelFile, NamesTensorsThatAreMissingOrBelongToNothing) {
  test::FreshRandom random;
  const TemporaryFolder folder, other, third;
  Official official = gpt2(random, "");
  official.tensors.all.erase("h.1.mlp.c_fc.bias");
  official.bias("h.0.attn.stranger", 3);
  official.save(folder);
  const std::string message = refusal(folder.path());
  EXPECT_TRUE(contains(message, "'model.layers.1.mlp.up_proj.bias'")) << message;
  EXPECT_TRUE(contains(message, "'h.0.attn.stranger.bias'")) << message;

  Official twice = gpt2(random, "");
  twice.tensors.all["transformer.wte.weight"] = twice.tensors.all["wte.weight"];
  twice.save(other);
  EXPECT_TRUE(contains(refusal(other.path()), "another tensor holds too"));

  LlamaForm tied;
  tied.tied = true;
  Official head = llama(random, tied);
  head.matrix("lm_head", family_vocab, tied.hidden);
  head.save(third);
  EXPECT_TRUE(contains(refusal(third.path()), "'lm_head.weight' differs"));
}

TEST(ModelFile, RefusesWhatItCannotRunByName) {
  test::FreshRandom random;
  const LlamaForm form;
  const auto with = [&](const nlohmann::json& change) {
    Official official = llama(random, form);
    official.config.update(change);
    const TemporaryFolder folder;
    official.save(folder);
    return refusal(folder.path());
  };
  EXPECT_TRUE(contains(with({{"model_type", "gemma2"}}), "'gemma2'"));
  EXPECT_TRUE(contains(with({{"quantization_config", {{"bits", 4}}}}), "'quantization_config'"));
  EXPECT_TRUE(contains(with({{"hidden_act", "gelu"}}), "'hidden_act'"));
  EXPECT_TRUE(contains(with({{"rope_scaling", {{"rope_type", "dynamic"}, {"factor", 2.0}}}}), "dynamic"));
  EXPECT_TRUE(contains(with({{"rope_scaling", {{"rope_type", "longrope"}, {"factor", 2.0}}}}), "longrope"));
  EXPECT_TRUE(contains(with({{"num_local_experts", 8}}), "'num_local_experts'"));
  EXPECT_TRUE(contains(with({{"architectures", {"LlamaForSequenceClassification"}}}), "'architectures'"));
  EXPECT_TRUE(
      contains(with({{"model_type", "qwen2"}, {"use_sliding_window", true}, {"max_window_layers", 1}}),
               "'max_window_layers'"));
  EXPECT_TRUE(
      contains(with({{"model_type", "mistral"}, {"layer_types", {"full_attention", "sliding_attention"}}}),
               "'layer_types'"));
  EXPECT_TRUE(
      contains(with({{"model_type", "ouro"}, {"early_exit_threshold", 0.5}}), "'early_exit_threshold'"));
}

TEST(ModelFile, RefusesGgufThatItCannotRunByName) {
  const auto with = [](const std::string& key, uint32_t type, const std::string& bytes) {
    GgufWriter writer;
    writer.value("general.architecture", 8, gguf_string("llama")).value(key, type, bytes);
    writer.tensor("token_embd.weight", {8, 4}, 0, std::string(128, '\0'));
    const TemporaryFolder folder;
    return refusal(write_file(folder, "m.gguf", writer.file()));
  };
  EXPECT_TRUE(
      contains(with("llama.expert_weights_scale", 6, little_endian(2.0F)), "'llama.expert_weights_scale'"));
  EXPECT_TRUE(contains(with("llama.block_count", 4, little_endian(2U)), "llama."));
  const TemporaryFolder folder;
  GgufWriter other;
  other.value("general.architecture", 8, gguf_string("mamba"));
  EXPECT_TRUE(contains(refusal(write_file(folder, "m.gguf", other.file())), "'mamba' is not supported"));
  EXPECT_TRUE(contains(refusal(write_file(folder, "n.gguf", GgufWriter().file())), "general.architecture"));
}

TEST(ModelFile, FineTunesAnImportedModel) {
  test::FreshRandom random;
  LlamaForm form;
  form.model_type = "qwen2";
  form.qkv_bias = true;
  const TemporaryFolder folder;
  llama(random, form).save(folder);
  const ModelFile file(folder.path());
  const Config config = file.config();
  cpu::Trainer trainer([config](int loops) { return build(config, {loops}); }, {});
  const auto numbers = file.read(build(config));
  for (size_t w = 0; w < numbers.size(); w++)
    trainer.write(static_cast<WeightId>(w), TrainingExecutor::Tensor::Weight, numbers[w]);
  const test::Tokens tokens = test::random_tokens(random, family_vocab);
  const double scale = 1.0 / static_cast<double>(tokens.scored());
  const double before = trainer.evaluate(tokens.batch(), {}).loss * scale;
  for (int64_t step = 1; step <= 30; step++) {
    trainer.accumulate(tokens.batch(), {}, scale, 0);
    trainer.update({.learning_rate = 1e-2,
                    .beta1 = 0.9,
                    .beta2 = 0.95,
                    .epsilon = 1e-8,
                    .weight_decay = 0,
                    .step = step,
                    .gradient_scale = 1,
                    .decayed = {}});
  }
  EXPECT_LT(trainer.evaluate(tokens.batch(), {}).loss * scale, 0.7 * before);
}

// The number behind the last "validation loss ".
double validation_loss(const std::string& output) {
  const std::string words = "validation loss ";
  const size_t at = output.rfind(words);
  return at == std::string::npos ? NAN : std::strtod(output.c_str() + at + words.size(), nullptr);
}

TEST(ModelFile, IsFineTunedFromGgufByTheVerbAndOpensAgain) {
  test::FreshRandom random;
  LlamaForm form;
  form.qkv_bias = true;
  const TemporaryFolder folder;
  const std::string gguf = write_file(folder, "m.gguf", llama_as_gguf(llama(random, form), form, "qwen2"));
  const std::string run = (folder / "run").string(), settings = (folder / "settings.toml").string();
  std::ofstream(settings) << fmt::format(R"(
    [model]
    init = "{}"
    [data]
    task = "swaps"
    sequence_length = 16
    [swaps]
    places = 3
    [batch]
    tokens = 64
    micro_sequences = 4
    [optimiser]
    learning_rate = 0.003
    [schedule]
    steps = 40
    [run]
    folder = "{}"
    threads = 1
    tensorboard = false
    )",
                                         gguf, run);
  const ProgramResult before = run_program({"train", settings, "--eval-only"});
  ASSERT_EQ(before.status, 0) << before.err;
  const ProgramResult trained = run_program({"train", settings});
  ASSERT_EQ(trained.status, 0) << trained.err;
  const ProgramResult after = run_program({"train", settings, "--eval-only", "--model.init=" + run});
  ASSERT_EQ(after.status, 0) << after.err;
  EXPECT_LT(validation_loss(after.out), 0.9 * validation_loss(before.out)) << before.out << after.out;
  const ModelFile tuned(run);
  EXPECT_TRUE(tuned.config().qkv_bias);
  EXPECT_EQ(tuned.read(build(tuned.config())).size(), build(tuned.config()).weights.size());
}

TEST(ModelFile, ConvertedInEveryRouteIsTheSameModel) {
  test::FreshRandom random;
  const TemporaryFolder folder, neox_folder;
  const Official neox = gpt_neox(random, true);
  neox.save(neox_folder);
  const std::string gguf = write_file(folder, "m.gguf", gpt_neox_as_gguf(neox));
  const std::vector<int> text = random.tokens(10, family_vocab);
  const straight::Rows expected = gpt_neox_logits(neox.tensors, true, text);
  for (const std::string& from : {gguf, neox_folder.path().string()}) {
    const std::string to = (folder / "to").string();
    const ProgramResult result = run_program({"convert", from, to, "--dtype", "f32"});
    ASSERT_EQ(result.status, 0) << result.err;
    expect_logits(oracle_logits(ModelFile(to), text), expected);
    EXPECT_EQ(run_program({"inspect", to, "--verify"}).status, 0);
    EXPECT_EQ(run_program({"explain", from}).status, 0);
    const ProgramResult inspected = run_program({"inspect", from});
    EXPECT_TRUE(contains(inspected.out, "every weight is there")) << inspected.out << inspected.err;
    std::filesystem::remove_all(to);
  }
}

}  // namespace
}  // namespace onceover
