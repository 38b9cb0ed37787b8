// The verb as a user runs it: what ends a text, and what begins it.
#include <gtest/gtest.h>

#include <fstream>

#include "cli/program.h"
#include "support/errors.h"
#include "support/temporary_folder.h"

namespace onceover {
namespace {

// A model of 16 positions and a byte tokeniser.
std::string model_of_16(const TemporaryFolder& folder, const std::string& positions) {
  const std::string config = (folder / "config.json").string(), model = (folder / positions).string();
  std::ofstream(config) << R"({"architecture": "transformer", "vocab_size": 259, "hidden_size": 16,
      "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16,
      "max_position_embeddings": 16, "self_position_embedding": ")"
                        << positions << "\"}";
  EXPECT_EQ(run_program({"init", config, model}).status, 0);
  EXPECT_EQ(run_program({"tokenizer", "bytes", model}).status, 0);
  return model;
}

TEST(Generate, EndsWithTheModelsContextAndKeepsWhatItWrote) {
  const TemporaryFolder folder;
  for (const char* positions : {"learned", "rope"}) {
    const std::string model = model_of_16(folder, positions);
    const auto generate = [&](const std::string& prompt, const std::string& most) {
      return run_program({"generate", prompt, "--model", model, "--ignore-eos", "--max-tokens", most});
    };
    const ProgramResult ended = generate("abcde", "100");
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_TRUE(ended.out.starts_with("abcde")) << ended.out;
    EXPECT_TRUE(contains(ended.err, "generated 10 tokens")) << ended.err;  // <bos> and five are there
    EXPECT_TRUE(contains(ended.err, "ended by the model's context")) << ended.err;
    EXPECT_TRUE(contains(generate("abcde", "10").err, "ended by length"));
    const ProgramResult full = generate("abcdefghijklmno", "100");
    EXPECT_EQ(full.status, 0) << full.err;
    EXPECT_TRUE(contains(full.err, "generated 0 tokens")) << full.err;
    EXPECT_EQ(generate("abcdefghijklmnop", "100").status, 1);
  }
}

}  // namespace
}  // namespace onceover
