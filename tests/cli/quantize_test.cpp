// Packed weights as a user meets them: in memory, on disk, and where they are refused.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/mapped_file.h"
#include "cli/program.h"
#include "support/random.h"
#include "support/temporary_folder.h"

namespace onceover {
namespace {

using Json = nlohmann::json;

class Quantize : public testing::Test {
 protected:
  void SetUp() override {
    test::FreshRandom random;
    std::ofstream text(path("text"));
    for (int i = 0; i < 900; i++) text << static_cast<char>('a' + random.between(0, 25));
    text.close();
    ASSERT_EQ(run_program({"init", "yoco-u-tiny", path("model"), "--seed", "3"}).status, 0);
    ASSERT_EQ(run_program({"tokenizer", "bytes", path("model/tokenizer")}).status, 0);
    for (const auto& file : std::filesystem::directory_iterator(path("model/tokenizer")))
      std::filesystem::copy(file.path(), path("model"));
    std::filesystem::remove_all(path("model/tokenizer"));
  }

  std::string path(const std::string& name) const { return (folder / name).string(); }

  Json perplexity(std::vector<std::string> more) const {
    std::vector<std::string> words = {"perplexity", path("text"), "--json", "--against", path("model")};
    words.insert(words.end(), more.begin(), more.end());
    const ProgramResult result = run_program(words);
    EXPECT_EQ(result.status, 0) << result.err;
    return result.status == 0 ? Json::parse(result.out) : Json{};
  }

  TemporaryFolder folder;
};

TEST_F(Quantize, GivesTheSameModelOnDiskAsInMemory) {
  for (const std::string format : {"f32", "bf16", "f16", "q8", "q4"}) {
    const std::string packed = path(format);
    ASSERT_EQ(run_program({"quantize", path("model"), packed, "--weights", format}).status, 0);
    EXPECT_EQ(run_program({"inspect", packed, "--verify"}).status, 0);
    EXPECT_EQ(perplexity({"--model", packed}), perplexity({"--model", path("model"), "--weights", format}))
        << format;
  }
}

TEST_F(Quantize, ReportsHowFarAFormatIsFromTheOriginal) {
  const Json same = perplexity({"--model", path("model")});
  EXPECT_EQ(same["divergence"], 0);
  EXPECT_EQ(same["agreed"], 1);
  const double q8 = perplexity({"--model", path("model"), "--weights", "q8"})["divergence"];
  const double q4 = perplexity({"--model", path("model"), "--weights", "q4"})["divergence"];
  EXPECT_GT(q8, 0);
  EXPECT_GT(q4, 10 * q8);
  EXPECT_LT(q4, 0.1);
}

TEST_F(Quantize, KeysAndValuesMayBeNarrowToo) {
  const double f16 = perplexity({"--model", path("model"), "--kv", "f16"})["divergence"];
  const double q8 = perplexity({"--model", path("model"), "--kv", "q8"})["divergence"];
  EXPECT_GT(f16, 0);
  EXPECT_GT(q8, f16);
  EXPECT_LT(q8, 0.01);
}

TEST_F(Quantize, RefusesWhatItCannotDoAndSaysWhy) {
  ASSERT_EQ(run_program({"quantize", path("model"), path("q8"), "--weights", "q8"}).status, 0);
  const auto complaint = [](const std::vector<std::string>& words) {
    const ProgramResult result = run_program(words);
    EXPECT_NE(result.status, 0);
    return result.err;
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(has(complaint({"generate", "a", "--model", path("q8"), "--weights", "q4"}), "quantised to q8"));
  EXPECT_TRUE(has(complaint({"quantize", path("q8"), path("again")}), "packed for inference"));
  EXPECT_TRUE(has(complaint({"convert", path("q8"), path("again")}), "packed for inference"));
  EXPECT_TRUE(has(complaint({"quantize", path("model"), path("q8")}), path("q8")));
  EXPECT_TRUE(has(complaint({"generate", "a", "--model", path("q8"), "--max-kv", "1K"}), "limit of 1024"));
  EXPECT_TRUE(has(complaint({"generate", "a", "--model", path("model"), "--max-kv", "0"}), "--max-kv"));
  std::filesystem::resize_file(path("q8/model.safetensors"),
                               std::filesystem::file_size(path("q8/model.safetensors")) - 64);
  EXPECT_TRUE(has(complaint({"generate", "a", "--model", path("q8")}), "model.safetensors"));
}

TEST_F(Quantize, SaysWhatToDoWithPackedWeightsOfAnotherVersion) {
  ASSERT_EQ(run_program({"quantize", path("model"), path("q8"), "--weights", "q8"}).status, 0);
  Json state = Json::parse(read_text_file(path("q8/state.json"), 1 << 20));
  state["state"]["packed"]["version"] = 1;
  std::ofstream(path("q8/state.json")) << state;
  const ProgramResult result = run_program({"generate", "a", "--model", path("q8")});
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(
      result.err.find("packed weights of version 1, expected 2; run onceover quantize on the original again"),
      std::string::npos)
      << result.err;
}

TEST(Bench, MeasuresAPresetInEveryForm) {
  const std::vector<std::string> words = {"bench", "-m",           "yoco-u-tiny", "-w", "q8,q4", "-p",
                                          "16",    "-n",           "2",           "-r", "2",     "-d",
                                          "0,64",  "--no-ceilings"};
  auto with = [&](const std::string& format) {
    auto all = words;
    all.insert(all.end(), {"-o", format});
    return run_program(all);
  };
  const Json json = Json::parse(with("json").out);
  EXPECT_EQ(json[0]["rows"].size(), 8u);
  EXPECT_EQ(json[0]["rows"][3]["test"], "tg2 @ d64");
  EXPECT_NE(with("md").out.find("| yoco-u-tiny |"), std::string::npos);
  EXPECT_NE(with("csv").out.find("yoco-u-tiny,"), std::string::npos);
  EXPECT_NE(run_program({"bench", "-m", "yoco-u-tiny", "-w", "q5"}).status, 0);
  EXPECT_NE(run_program({"bench", "-m", "nothing"}).status, 0);
}

TEST(Bench, RefusesWhatCannotBeMeasured) {
  for (const char* flag : {"--threads", "--sequences", "--repetitions"}) {
    for (const char* value : {"0", "-1", "99999999", "x"}) {
      const ProgramResult result =
          run_program({"bench", "-m", "yoco-u-tiny", "-p", "8", "-n", "1", flag, value});
      EXPECT_EQ(result.status, 2) << flag << " " << value;
      EXPECT_EQ(result.out, "");
    }
  }
}

}  // namespace
}  // namespace onceover
