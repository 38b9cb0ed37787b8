// The verb as a user runs it, on a small random model with a byte-level tokeniser.
#include <gtest/gtest.h>

#include <fstream>

#include "chat/fixtures.h"
#include "cli/program.h"
#include "support/errors.h"
#include "support/temporary_folder.h"

namespace onceover {
namespace {

class Chat : public testing::Test {
 protected:
  void SetUp() override {
    write_bytes(
        folder / "config.json",
        R"({"architecture": "transformer", "vocab_size": 262, "hidden_size": 16, "num_attention_heads": 2,
                    "num_hidden_layers": 1, "intermediate_size": 32, "max_position_embeddings": 400})");
    const auto made = run_program({"init", (folder / "config.json").string(), model()});
    ASSERT_EQ(made.status, 0) << made.err;
    write_bytes(folder / "model/tokenizer.json", chatml_tokenizer_json());
    write_bytes(folder / "model/tokenizer_config.json", R"({"bos_token": "<s>", "eos_token": "</s>"})");
    write_bytes(folder / "chatml.jinja", chatml);
  }

  std::string model() const { return (folder / "model").string(); }
  std::string form() const { return (folder / "chatml.jinja").string(); }

  ProgramResult chat(std::vector<std::string> words, const std::string& input = "") const {
    write_bytes(folder / "input", input);
    words.insert(words.begin(), {"chat", "--model", model(), "--max-tokens", "5", "--seed", "7"});
    return run_program(words, (folder / "input").string());
  }

  TemporaryFolder folder;
};

TEST_F(Chat, ModelWithoutATemplateSaysWhatHelps) {
  const auto result = chat({"--prompt", "Hi"});
  EXPECT_EQ(result.status, 1);
  EXPECT_TRUE(contains(result.err, "no chat template")) << result.err;
  EXPECT_TRUE(contains(result.err, "--template FILE"));
}

TEST_F(Chat, AnswersEveryLineOfAPipeFeedingOnlyWhatIsNew) {
  const auto result = chat({"--template", form(), "--system", "Be brief."}, "Hi\n\nAnd now?\n/exit\nnever\n");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 2) << result.err;
  std::vector<int> fed;
  for (size_t at = 0; (at = result.err.find(", ", at)) != std::string::npos; at += 2) {
    if (std::isdigit(result.err[at + 2])) fed.push_back(std::stoi(result.err.substr(at + 2)));
  }
  ASSERT_GE(fed.size(), 2U) << result.err;
}

TEST_F(Chat, LinesMayEndAsOnWindows) {
  const auto result = chat({"--template", form(), "--quiet"}, "Hi\r\n\r\n/exit\r\nnever\r\n");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.out, chat({"--template", form(), "--quiet", "--prompt", "Hi"}).out);
}

TEST_F(Chat, AnswersUntilTheTemplateRefuses) {
  write_bytes(folder / "once.jinja",
              "{% if messages | length > 1 %}\n{{ raise_exception('no more') }}{% endif %}x");
  const auto result = chat({"--template", (folder / "once.jinja").string(), "--quiet"}, "one\ntwo\nthree\n");
  EXPECT_EQ(result.status, 1);
  EXPECT_FALSE(result.out.empty());
  EXPECT_TRUE(contains(result.err, "once.jinja:2:19: no more")) << result.err;
}

TEST_F(Chat, FindsTheModelsOwnTemplateAndSaysItsPrompts) {
  write_bytes(folder / "model/chat_template.jinja", chatml);
  const auto both = chat({"--prompt", "Hi", "--prompt", "bye", "--quiet"});
  EXPECT_EQ(both.status, 0) << both.err;
  EXPECT_TRUE(both.err.empty()) << both.err;
  const auto piped = chat({"--quiet"}, "Hi\nbye\n");
  EXPECT_EQ(piped.out, both.out);
}

TEST_F(Chat, ResetForgetsAndUnknownCommandsAreReported) {
  const auto result = chat({"--template", form(), "--temperature", "0"}, "Hi\n/reset\nHi\n/what\n//x\n");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(contains(result.err, "unknown command '/what'")) << result.err;
  const auto first = result.err.find(" tokens so far"), second = result.err.find(" tokens so far", first + 1);
  const auto line_start = result.err.rfind('\n', second) + 1;
  EXPECT_EQ(result.err.substr(0, first), result.err.substr(line_start, second - line_start));
}

TEST_F(Chat, TemplateErrorsAndOverlongConversationsEndWithAMessage) {
  write_bytes(folder / "bad.jinja", "\n{{ messages[0].content.nope.nope }}");
  const auto bad = chat({"--template", (folder / "bad.jinja").string(), "--prompt", "x"});
  EXPECT_EQ(bad.status, 1);
  EXPECT_TRUE(contains(bad.err, "bad.jinja:2:")) << bad.err;
  const auto longest = chat({"--template", form(), "--prompt", std::string(500, 'x')});
  EXPECT_EQ(longest.status, 1);
  EXPECT_TRUE(contains(longest.err, "context is 400")) << longest.err;
}

}  // namespace
}  // namespace onceover
