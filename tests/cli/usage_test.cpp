// Mistakes on the command line, of every verb.
#include <gtest/gtest.h>

#include "cli/program.h"
#include "support/errors.h"
#include "support/temporary_folder.h"

namespace onceover {
namespace {

TEST(Usage, NumbersWithASignOrAnOverflowAreMisuse) {
  const TemporaryFolder folder;
  const std::string model = (folder / "model").string();
  const std::vector<std::string> options[] = {
      {"init", "yoco-tiny", model, "--seed"},
      {"generate", "text", "--model", model, "--seed"},
      {"generate", "text", "--model", model, "--top-k"},
      {"generate", "text", "--model", model, "--max-tokens"},
      {"prepare", model, "--tokenizer", model, "--output", model, "--held-out-every"},
      {"prepare", model, "--tokenizer", model, "--output", model, "--held-out-seed"},
      {"prepare", model, "--tokenizer", model, "--output", model, "--shard-mebibytes"},
      {"tokenizer", "train", model, "--output", model, "--max-mebibytes"},
      {"tokenizer", "train", model, "--output", model, "--threads"},
      {"explain", "yoco-u-tiny", "--loops"},
  };
  for (const auto& arguments : options) {
    for (const char* number : {"-1", "+1", "18446744073709551616", "0x10", "1.5", "1e3", " 1", ""}) {
      std::vector<std::string> words = arguments;
      words.back() += std::string("=") + number;
      const ProgramResult result = run_program(words);
      EXPECT_EQ(result.status, 2) << words.front() << " " << words.back() << result.err;
    }
  }
  EXPECT_FALSE(std::filesystem::exists(model));
}

TEST(Usage, TheLargestSeedIsTaken) {
  const TemporaryFolder folder;
  const ProgramResult result =
      run_program({"init", "yoco-tiny", (folder / "model").string(), "--seed", "18446744073709551615"});
  EXPECT_EQ(result.status, 0) << result.err;
}

TEST(Usage, UnknownChoicesAreMisuse) {
  EXPECT_EQ(run_program({"init", "yoco-tiny", "/nowhere/model", "--dtype", "f64"}).status, 2);
  EXPECT_EQ(run_program({"train"}).status, 2);
  EXPECT_EQ(run_program({"train", "/nowhere/settings.toml", "--executor", "cpuu"}).status,
            1);  // the file first
  EXPECT_EQ(run_program({"generate", "a", "--executor", "cpuu"}).status, 2);
  EXPECT_EQ(run_program({"generate", "a", "--device", "cuda"}).status, 2);
  for (const char* flag : {"--temperature=-1", "--top-p=1.1", "--stop=", "--repetition-penalty=0"}) {
    const ProgramResult result = run_program({"generate", "a", flag});
    EXPECT_EQ(result.status, 2) << flag;
    EXPECT_EQ(result.out, "") << flag;
  }
  EXPECT_EQ(run_program({"generate", "a", "--prompt-file", "b", "--model", "c"}).status, 2);
}

TEST(Usage, AStopTextLeavesThePromptAlone) {
  const ProgramResult result =
      run_program({"generate", "--model", "/nowhere", "--stop", "a", "--quiet", "text", "more"});
  EXPECT_EQ(result.status, 2);  // `more` is one too many: `text` was the prompt
  EXPECT_TRUE(contains(result.err, "more")) << result.err;
}

TEST(Prepare, ADamagedShardIsRefusedNamingTheWayOut) {
  const TemporaryFolder folder;
  const std::string bytes = (folder / "bytes").string(), shards = (folder / "shards").string();
  write_bytes(folder / "text", "some words of text");
  const std::vector<std::string> prepare = {
      "prepare", (folder / "text").string(), "--tokenizer", bytes, "--output", shards};
  ASSERT_EQ(run_program({"tokenizer", "bytes", bytes}).status, 0);
  ASSERT_EQ(run_program(prepare).status, 0);
  std::filesystem::path shard;
  for (const auto& entry : std::filesystem::directory_iterator(shards)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("train")) shard = entry.path();
  }
  const std::string whole = read_bytes(shard);
  for (const std::string& damaged : {whole.substr(0, 10), std::string()}) {
    write_bytes(shard, damaged);
    const ProgramResult result = run_program(prepare);
    EXPECT_EQ(result.status, 1) << result.out;
    EXPECT_TRUE(contains(result.err, "--restart")) << result.err;
  }
  std::vector<std::string> again = prepare;
  again.push_back("--restart");
  EXPECT_EQ(run_program(again).status, 0);
}

TEST(StandardInput, ThatCannotBeReadIsAnError) {
  const TemporaryFolder folder;
  const std::string bytes = (folder / "bytes").string();
  ASSERT_EQ(run_program({"tokenizer", "bytes", bytes}).status, 0);
  for (const char* verb : {"encode", "decode"}) {
    for (const std::string& input : {std::string(), folder.path().string()}) {
      const ProgramResult result = run_program({"tokenizer", verb, bytes}, input);
      EXPECT_EQ(result.status, 1) << verb << " " << input;
      EXPECT_TRUE(contains(result.err, "standard input: cannot be read")) << result.err;
    }
    EXPECT_EQ(run_program({"tokenizer", verb, bytes}).status, 0) << verb;
  }
}

}  // namespace
}  // namespace onceover
