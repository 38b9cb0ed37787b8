// The verb as a user runs it, and the loss that training measures on the same tokens.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "chat/fixtures.h"
#include "cli/program.h"
#include "support/errors.h"
#include "support/random.h"
#include "support/temporary_folder.h"

namespace onceover {
namespace {

// A model of three steps on random bytes, of which 1 + 16 n tokens are held out.
class Perplexity : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    std::ofstream text(folder / "text");
    for (int line = 0; line < 40; line++) {
      for (int i = 0; i < 60; i++) text << static_cast<char>('a' + random.between(0, 3));
      text << '\n';
    }
    text.close();
    ASSERT_EQ(run_program({"tokenizer", "bytes", path("tokenizer")}).status, 0);
    ASSERT_EQ(run_program({"prepare", path("text"), "--separator", "\\n", "--tokenizer", path("tokenizer"),
                           "--output", path("shards"), "--held-out-every", "4"})
                  .status,
              0);
    ASSERT_EQ(run(train({"--schedule.steps=3", "--run.folder=" + path("run")})).status, 0);
  }

  std::string path(const std::string& name) const { return (folder / name).string(); }
  std::string model() const { return path("run/step_000003"); }
  ProgramResult run(const std::vector<std::string>& words) const { return run_program(words); }

  std::vector<std::string> train(const std::vector<std::string>& more) const {
    std::ofstream(folder / "settings.toml")
        << "[model]\nconfig = \"" << GetParam() << "\"\n[data]\nshards = \"" << path("shards")
        << "\"\nsequence_length = 16\n[batch]\ntokens = 64\nmicro_sequences = 1\n[validation]\nbatches = "
           "1000\n"
           "[run]\nthreads = 1\ntensorboard = false\n";
    std::vector<std::string> words = {"train", path("settings.toml")};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  test::FreshRandom random;
  TemporaryFolder folder;
};

double number_after(const std::string& text, const std::string& words) {
  const size_t at = text.find(words);
  return at == std::string::npos ? NAN : std::stod(text.substr(at + words.size()));
}

TEST_P(Perplexity, EqualsTheLossThatTrainingMeasures) {
  const ProgramResult trained =
      run(train({"--eval-only", "--schedule.steps=3", "--model.config=", "--model.init=" + model()}));
  ASSERT_EQ(trained.status, 0) << trained.err;
  const double expected = number_after(trained.out, "validation loss ");
  const auto meta = nlohmann::json::parse(std::ifstream(folder / "shards" / "meta.json"));
  const int64_t held_out = meta["heldout"]["tokens"];
  const std::string whole_windows = std::to_string((held_out - 1) / 16 * 16);
  const std::vector<std::string> command = {"perplexity",  "--shards",  path("shards"), "--model",
                                            model(),       "--context", "16",           "--max-tokens",
                                            whole_windows, "--json"};
  const ProgramResult measured = run(command);
  ASSERT_EQ(measured.status, 0) << measured.err;
  const auto json = nlohmann::json::parse(measured.out);
  EXPECT_EQ(json["tokens"], std::stoll(whole_windows));
  EXPECT_NEAR(json["loss"].get<double>(), expected, 1e-5 * expected) << trained.out;
  EXPECT_NEAR(json["perplexity"].get<double>(), std::exp(json["loss"].get<double>()), 1e-9);
}

INSTANTIATE_TEST_SUITE_P(SharedAndUnshared, Perplexity,
                         testing::Values("transformer-tiny", "yoco-tiny", "yoco-u-tiny", "yoco-plus-tiny"),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(DefaultModel, IsWholeAndWritesWithoutBeingNamed) {
  const std::string directory = (test::source_folder() / "models" / "default").string();
  EXPECT_EQ(run_program({"inspect", "--verify", directory}).status, 0);
  const std::vector<std::string> unnamed = {"generate", "--temperature", "0", "--max-tokens", "8", "The"};
  const ProgramResult written = run_program(unnamed);
  ASSERT_EQ(written.status, 0) << written.err;
  EXPECT_GT(written.out.size(), std::string("The\n").size());
  std::vector<std::string> named = unnamed;
  named.insert(named.end(), {"--model", directory});
  EXPECT_EQ(run_program(named).out, written.out);
}

TEST(DefaultModel, RefusesAPromptBeyondItsContext) {
  const TemporaryFolder folder;
  const std::string file = (folder / "text").string();
  std::ofstream text(file);
  for (int i = 0; i < 2100; i++) text << "zq ";
  text.close();
  const ProgramResult result = run_program({"generate", "--prompt-file", file});
  EXPECT_EQ(result.status, 1);
  EXPECT_TRUE(contains(result.err, "max_position_embeddings is 2048")) << result.err;
  EXPECT_EQ(result.out, "");
}

TEST(PerplexityOfTexts, ReadsFilesAndStandardInput) {
  const TemporaryFolder folder;
  const std::string text = (folder / "text").string();
  std::ofstream(text) << "The American people expect that the Congress will act.\n";
  const ProgramResult file = run_program({"perplexity", text, "--context", "8", "--stride", "4"});
  ASSERT_EQ(file.status, 0) << file.err;
  EXPECT_TRUE(contains(file.out, "bits per byte")) << file.out;
  const ProgramResult input = run_program({"perplexity", "-", "--context", "8", "--stride", "4"}, text);
  EXPECT_EQ(input.out, file.out);
}

std::string tiny_model(const TemporaryFolder& folder, int vocab_size) {
  const std::string tiny = (folder / "tiny").string(), config = (folder / "config.json").string(),
                    model = (folder / "model").string();
  EXPECT_EQ(run_program({"init", "transformer-tiny", tiny}).status, 0);
  auto json = nlohmann::json::parse(std::ifstream(folder / "tiny" / "config.json"));
  json["vocab_size"] = vocab_size;
  std::ofstream(config) << json;
  EXPECT_EQ(run_program({"init", config, model}).status, 0);
  return model;
}

TEST(PerplexityOfTexts, PutsBosBeforeEachWhateverAddBosTokenSaysElseEos) {
  const TemporaryFolder folder;
  const std::string model = tiny_model(folder, 262), text = (folder / "text").string();
  std::ofstream(text) << "abc";
  const auto measured = [&](const nlohmann::json& tokenizer_config) {
    std::ofstream(folder / "model" / "tokenizer_config.json") << tokenizer_config;
    const ProgramResult result = run_program({"perplexity", text, text, "--model", model, "--json"});
    EXPECT_EQ(result.status, 0) << result.err;
    return nlohmann::json::parse(result.out);
  };
  std::ofstream(folder / "model" / "tokenizer.json") << chatml_tokenizer_json();
  const auto asked = measured({{"bos_token", "<s>"}, {"eos_token", "</s>"}, {"add_bos_token", true}});
  const auto unasked = measured({{"bos_token", "<s>"}, {"eos_token", "</s>"}, {"add_bos_token", false}});
  EXPECT_EQ(asked["before_each_text"], "<s>");
  EXPECT_EQ(asked["tokens"], 7);  // abc, the second <s>, abc
  EXPECT_EQ(unasked, asked);
  const auto without = measured({{"eos_token", "</s>"}});
  EXPECT_EQ(without["before_each_text"], "</s>");
  EXPECT_EQ(without["tokens"], 7);
  EXPECT_NE(without["loss"], asked["loss"]);
}

// The tokeniser puts a space before a text; it is not the text's.
TEST(PerplexityOfTexts, CountsTheBytesOfTheTextsAlone) {
  const TemporaryFolder folder;
  const auto path = [&](const char* name) { return (folder / name).string(); };
  const std::string model = tiny_model(folder, 265);
  std::ofstream(path("a")) << "ab ab";
  std::ofstream(path("b")) << " b";
  const std::string tokenizer = (test::source_folder() / "fuzz/corpus/llama2c_tokenizer/ok.bin").string();
  const ProgramResult result =
      run_program({"perplexity", path("a"), path("b"), "--model", model, "--tokenizer", tokenizer, "--json"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(nlohmann::json::parse(result.out)["bytes"], 7);
}

TEST(PerplexityOfTexts, RefusesFaultyUse) {
  EXPECT_TRUE(
      contains(run_program({"perplexity"}).err, "expected text files or --shards FOLDER, found neither"));
  EXPECT_TRUE(contains(run_program({"perplexity", "a", "--shards", "b"}).err, "found both"));
  EXPECT_EQ(run_program({"perplexity", "/dev/null/none"}).status, 1);
  EXPECT_TRUE(
      contains(run_program({"perplexity", "-", "--context", "8", "--stride", "9"}, "/etc/hostname").err,
               "the stride must be from 1 to the context of 8 tokens"));
  EXPECT_EQ(run_program({"perplexity", "a", "--context", "0"}).status, 1);
}

}  // namespace
}  // namespace onceover
