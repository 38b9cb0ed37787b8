#include <gtest/gtest.h>

#include <fstream>

#include "cli/program.h"
#include "support/temporary_folder.h"
#include "weights/checkpoint.h"
#include "weights/safetensors.h"

namespace onceover {
namespace {

TEST(Convert, RoundsEveryWeightToTheTypeAskedForAndKeepsTheTokeniser) {
  const TemporaryFolder folder;
  const std::string from = (folder / "from").string(), to = (folder / "to").string();
  ASSERT_EQ(run_program({"init", "yoco-u-tiny", from, "--seed", "3"}).status, 0);
  std::ofstream(folder / "from" / "tokenizer_config.json") << R"({"tokenizer_class": "ByteTokenizer"})";
  const ProgramResult result = run_program({"convert", from, to, "--dtype", "bf16"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(run_program({"inspect", to, "--verify"}).status, 0);
  EXPECT_TRUE(std::filesystem::exists(folder / "to" / "tokenizer_config.json"));
  const Checkpoint before(from), after(to);
  ASSERT_EQ(before.tensors().size(), after.tensors().size());
  for (const auto& [name, tensor] : before.tensors()) {
    const TensorView& rounded = after.tensors().at(name);
    EXPECT_EQ(rounded.dtype, DType::BF16);
    const std::vector<float> wide = to_f32(tensor), narrow = to_f32(rounded);
    for (size_t i = 0; i < wide.size(); ++i)
      ASSERT_EQ(narrow[i], bf16_to_f32(f32_to_bf16(wide[i]))) << name << " " << i;
  }
}

TEST(Convert, WritesAnotherTokeniserWhereToldTo) {
  const TemporaryFolder folder;
  const std::string from = (folder / "from").string(), to = (folder / "to").string(),
                    tokenizer = (test::source_folder() / "fuzz/corpus/llama2c_tokenizer/ok.bin").string();
  ASSERT_EQ(run_program({"init", "transformer-tiny", from}).status, 0);
  const ProgramResult result = run_program({"convert", from, to, "--tokenizer", tokenizer});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(run_program({"tokenize", "ab ab", "--ids", "--model", to}).out,
            run_program({"tokenize", "ab ab", "--ids", "--model", tokenizer}).out);
  const ProgramResult none = run_program({"convert", from, to + "2", "--tokenizer", from});
  EXPECT_EQ(none.status, 1);
  EXPECT_FALSE(std::filesystem::exists(to + "2"));
}

TEST(Convert, RefusesToWriteOverAFolder) {
  const TemporaryFolder folder;
  const std::string from = (folder / "from").string();
  ASSERT_EQ(run_program({"init", "yoco-tiny", from}).status, 0);
  const ProgramResult result = run_program({"convert", from, from});
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.err.find("from"), std::string::npos) << result.err;
  EXPECT_EQ(run_program({"inspect", from, "--verify"}).status, 0);
}

}  // namespace
}  // namespace onceover
