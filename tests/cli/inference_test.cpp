// What inference promises, met by the program itself: windows, turns back, depths.
#include <fmt/format.h>
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

constexpr int window = 16;

// A random YOCO-U with a window of 16 tokens and 4 loops over bytes.
class Inference : public testing::Test {
 protected:
  void SetUp() override {
    make_model("model", 4);
    write_bytes(folder / "chatml.jinja", chatml);
  }

  // Weights depend on their names and the seed alone: models of other loops have the same.
  void make_model(const std::string& name, int loops) const {
    const nlohmann::json config = {
        {"architecture", "yoco-u"}, {"vocab_size", 262},        {"hidden_size", 32},
        {"num_hidden_layers", 4},   {"num_attention_heads", 2}, {"num_key_value_heads", 1},
        {"head_dim", 16},           {"intermediate_size", 64},  {"sliding_window", window},
        {"num_loops", loops},       {"initializer_range", 0.5}, {"max_position_embeddings", 500}};
    write_bytes(folder / "config.json", config.dump());
    const auto seed = std::to_string(random.seed() % 1000000);
    const ProgramResult made = run_program({"init", path("config.json"), path(name), "--seed", seed});
    ASSERT_EQ(made.status, 0) << made.err;
    write_bytes(folder / name / "tokenizer.json", chatml_tokenizer_json());
    write_bytes(folder / name / "tokenizer_config.json", R"({"bos_token": "<s>", "eos_token": "</s>"})");
  }

  std::string path(const std::string& name) const { return (folder / name).string(); }

  // A file of random letters.
  std::string text(const std::string& name, int letters) {
    std::string letters_of_it;
    for (int i = 0; i < letters; i++) letters_of_it += static_cast<char>('a' + random.between(0, 25));
    write_bytes(folder / name, letters_of_it);
    return path(name);
  }

  ProgramResult run(const std::string& verb, std::vector<std::string> words, const std::string& input = "") {
    write_bytes(folder / "input", input);
    words.insert(words.begin(), {verb, "--model", path("model")});
    return run_program(words, path("input"));
  }

  nlohmann::json perplexity(const std::vector<std::string>& words) {
    const ProgramResult result = run("perplexity", words);
    EXPECT_EQ(result.status, 0) << result.err;
    return nlohmann::json::parse(result.out);
  }

  test::FreshRandom random;
  TemporaryFolder folder;
};

double nats(const nlohmann::json& result) {
  return result["loss"].get<double>() * result["tokens"].get<double>();
}

// Sequences of 300 tokens and of 4, longer and shorter than the attention's window: <s> stands before a text.
TEST_F(Inference, ASequenceShorterThanTheWindowIsScoredAsAloneBehindALongOne) {
  const std::string first = text("long", 299), second = text("short", 3);
  const auto both = perplexity({first, second, "--context", "300", "--json"});
  const auto before = perplexity({first, second, "--context", "300", "--max-tokens", "300", "--json"});
  const auto alone = perplexity({second, "--context", "300", "--json"});
  ASSERT_EQ(both["tokens"], 303);
  ASSERT_EQ(alone["tokens"], 3);
  EXPECT_TRUE(std::isfinite(nats(both)) && std::isfinite(nats(alone)));
  EXPECT_NEAR(nats(both), nats(before) + nats(alone), 1e-9 * nats(both));
}

// The window is a ring: what it held of the first answer must not show in the second.
TEST_F(Inference, AskedAgainAfterSeveralWindowsItAnswersTheSame) {
  const std::vector<std::string> words = {"--template", path("chatml.jinja"), "--temperature",
                                          "0",          "--max-tokens",       std::to_string(4 * window)};
  const ProgramResult once = run("chat", words, "Hi\n");
  const ProgramResult again = run("chat", words, "Hi\nAnd now?\n/reset\nHi\n");
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_TRUE(again.out.starts_with(once.out)) << again.out;
  EXPECT_TRUE(again.out.ends_with(once.out)) << again.out;
  EXPECT_GT(again.out.size(), 2 * once.out.size());
}

TEST_F(Inference, SaysHowManyLoopsRanAndTheFlagWinsOverTheConfig) {
  const auto loops_said = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"a", "--max-tokens", "3", "--temperature", "0"};
    words.insert(words.end(), more.begin(), more.end());
    const ProgramResult written = run("generate", words);
    const size_t at = written.err.find("; loops ");
    return at == std::string::npos ? written.err : written.err.substr(at + 2, 7);
  };
  EXPECT_EQ(loops_said({}), "loops 4");
  EXPECT_EQ(loops_said({"--loops", "2"}), "loops 2");
}

// One depth is one computation, whatever asked for it.
TEST_F(Inference, LoopsOfTheFlagAreThoseOfTheConfig) {
  make_model("shallow", 2);
  const std::string file = text("text", 100);
  const ProgramResult flag = run("perplexity", {file, "--loops", "2", "--json"});
  const ProgramResult config = run_program({"perplexity", "--model", path("shallow"), file, "--json"});
  ASSERT_EQ(flag.status, 0) << flag.err;
  EXPECT_EQ(flag.out, config.out);
  EXPECT_EQ(nlohmann::json::parse(flag.out)["loops"], 2);
  const auto deep = perplexity({file, "--json"});
  EXPECT_EQ(deep["loops"], 4);
  EXPECT_NE(nlohmann::json::parse(flag.out)["loss"], deep["loss"]);
}

TEST_F(Inference, AContextBeyondTheModelsOwnIsMeasuredWithAWarning) {
  const std::string file = text("text", 20);
  const ProgramResult beyond = run("perplexity", {file, "--context", "501"});
  EXPECT_EQ(beyond.status, 0) << beyond.err;
  EXPECT_TRUE(
      contains(beyond.err, "warning: --context 501 is beyond the model's max_position_embeddings of 500"))
      << beyond.err;
  const ProgramResult within = run("perplexity", {file, "--context", "500"});
  EXPECT_FALSE(contains(within.err, "warning")) << within.err;
}

TEST_F(Inference, AModelOfFewPositionsIsMeasuredInWindowsOfAsMany) {
  const std::string file = text("text", 600);
  const ProgramResult plain = run("perplexity", {file, "--json"});
  EXPECT_FALSE(contains(plain.err, "warning")) << plain.err;
  EXPECT_EQ(plain.out, run("perplexity", {file, "--json", "--context", "500"}).out);
  EXPECT_NE(plain.out, run("perplexity", {file, "--json", "--context", "512"}).out);
}

}  // namespace
}  // namespace onceover
