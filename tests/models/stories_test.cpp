// A published model of 260 thousand weights (karpathy/tinyllamas), where it lies beside the repository: its
// greedy text from llama2.c's file, from GGUF and from a converted folder.
#include <cstring>

#include "cli/program.h"
#include "cpu/engine.h"
#include "models/support.h"

namespace onceover {
namespace {

std::filesystem::path stories(const char* name) {
  return test::source_folder() / "../shared/data/stories260K" / name;
}

// The pieces of llama2.c's tokenizer: i32 longest, then f32 score, i32 length and the bytes of each.
std::vector<std::string> pieces() {
  const std::string bytes = read_bytes(stories("tok512.bin").string());
  std::vector<std::string> all;
  for (size_t at = sizeof(int32_t); at + 8 <= bytes.size();) {
    int32_t length = 0;
    std::memcpy(&length, bytes.data() + at + 4, sizeof length);
    all.push_back(bytes.substr(at + 8, static_cast<size_t>(length)));
    at += 8 + static_cast<size_t>(length);
  }
  return all;
}

// As llama2.c prints them: no blank directly behind <s>, <0x0A> as the byte.
std::string text_of(const std::vector<int32_t>& tokens) {
  const std::vector<std::string> all = pieces();
  std::string text;
  for (size_t i = 1; i < tokens.size(); i++) {
    std::string piece = all.at(static_cast<size_t>(tokens[i]));
    if (tokens[i - 1] == 1 && piece.starts_with(' ')) piece.erase(0, 1);
    if (piece.starts_with("<0x")) piece = static_cast<char>(std::stoi(piece.substr(3, 2), nullptr, 16));
    text += piece;
  }
  return text;
}

struct Greedy {
  std::vector<int32_t> tokens = {1};
  std::vector<std::vector<float>> logits;
};

Greedy continue_greedily(const std::filesystem::path& path, int steps) {
  const ModelFile file(path);
  const Plan plan = build(file.config());
  const auto weights = std::make_shared<cpu::InferenceWeights>(plan, cpu::WeightFormat::F32, file.read(plan));
  cpu::InferenceEngine engine(plan, weights);
  Greedy greedy;
  for (int step = 0; step < steps; step++) {
    const auto logits = engine.feed({&greedy.tokens.back(), 1});
    greedy.logits.emplace_back(logits.begin(), logits.end());
    greedy.tokens.push_back(
        static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin()));
  }
  return greedy;
}

class StoriesModel : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(stories("stories260K.gguf")))
      GTEST_SKIP() << "no ../shared/data/stories260K";
  }
};

TEST_F(StoriesModel, IsPrintedByTheProgramAsLlama2cPrintsIt) {
  const TemporaryFolder folder;
  const std::string bin = stories("stories260K.bin").string(), tokenizer = stories("tok512.bin").string(),
                    converted = (folder / "converted").string();
  const ProgramResult result =
      run_program({"convert", bin, converted, "--dtype", "f32", "--tokenizer", tokenizer});
  ASSERT_EQ(result.status, 0) << result.err;
  const std::vector<std::vector<std::string>> models = {
      {bin, "--tokenizer", tokenizer}, {stories("stories260K.gguf").string()}, {converted}};
  for (const std::vector<std::string>& model : models) {
    std::vector<std::string> words = {"generate", "", "--temperature", "0", "--max-tokens", "200", "--model"};
    words.insert(words.end(), model.begin(), model.end());
    EXPECT_EQ(run_program(words).out, read_bytes(stories("llama2c_greedy_200.txt"))) << model[0];
  }
  // Its texts are parted by <s>: after the first, llama2.c stops.
  const std::string drawn = run_program({"generate", "", "--seed", "3", "--max-tokens", "500", "--model", bin,
                                         "--tokenizer", tokenizer})
                                .err;
  EXPECT_TRUE(contains(drawn, "ended by stop")) << drawn;
}

TEST_F(StoriesModel, WritesThePublishedTextFromEveryFormat) {
  constexpr int steps = 200;
  const TemporaryFolder folder;
  const std::string converted = (folder / "converted").string();
  const ProgramResult result =
      run_program({"convert", stories("stories260K.gguf").string(), converted, "--dtype", "f32"});
  ASSERT_EQ(result.status, 0) << result.err;
  const std::string published = read_bytes(stories("llama2c_greedy_200.txt").string());
  const Greedy bin = continue_greedily(stories("stories260K.bin"), steps);
  const std::string text = text_of(bin.tokens);
  ASSERT_GT(published.size(), 400U);
  EXPECT_EQ(text.substr(0, published.find_last_not_of('\n') + 1),
            published.substr(0, published.find_last_not_of('\n') + 1));
  for (const std::filesystem::path& path : {stories("stories260K.gguf"), std::filesystem::path(converted)}) {
    const Greedy other = continue_greedily(path, steps);
    EXPECT_EQ(other.tokens, bin.tokens) << path;
    for (int step = 0; step < steps; step++) {
      for (size_t j = 0; j < bin.logits[step].size(); j++)
        ASSERT_NEAR(other.logits[step][j], bin.logits[step][j], 1e-4) << path << " step " << step;
    }
  }
}

}  // namespace
}  // namespace onceover
