#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "support/errors.h"
#include "support/gguf_writer.h"
#include "support/temporary_folder.h"

namespace onceover {
namespace {

std::string small_gguf() {
  GgufWriter writer;
  writer.value("general.name", 8, gguf_string("small\x1B[2J")).value("count", 4, little_endian(7U));
  std::string words;
  for (const char* word : {"one", "two", "three", "four", "five", "six"}) words += gguf_string(word);
  writer.value("words", 9, gguf_array(8, 6, words));
  writer.value("nested", 9, gguf_array(9, 1, gguf_array(0, 2, "\1\2")));
  writer.tensor("embed", {64, 3}, 2, std::string(108, 'e')).tensor("norm", {2}, 0, std::string(8, 'n'));
  return writer.tensor("odd", {256}, 10, std::string(84, 'o')).file();  // a type that is not dequantised
}

TEST(InspectGguf, ListsTensorsAndMetadata) {
  const TemporaryFolder folder;
  const std::string path = (folder / "model").string();  // known by its first bytes, not its name
  write_bytes(path, small_gguf());
  const ProgramResult result = run_program({"inspect", path});
  ASSERT_EQ(result.status, 0) << result.err;
  for (const char* line :
       {"embed    Q4_0  [3, 64]    108\n", "odd      Q2_K    [256]     84\n", "metadata count (u32) = 7\n",
        "metadata words (array) = 6 of string: ['one', 'two', 'three', 'four', …]\n",
        "metadata nested (array) = 1 of array: [2 of u8: [1, 2]]\n",
        "metadata general.name (string) = 'small\\x1B[2J'\n", "GGUF version 3, data aligned to 32 bytes\n",
        "3 tensors, 450 elements, 200 B\n"}) {
    EXPECT_TRUE(contains(result.out, line)) << line << result.out;
  }
}

TEST(InspectGguf, PrintsJsonForPrograms) {
  const TemporaryFolder folder;
  const std::string path = (folder / "model.gguf").string();
  write_bytes(path, small_gguf());
  const ProgramResult result = run_program({"inspect", path, "--json"});
  ASSERT_EQ(result.status, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["kind"], "gguf");
  EXPECT_EQ(json["version"], 3);
  EXPECT_EQ(json["alignment"], 32);
  EXPECT_EQ(json["metadata"]["count"], (nlohmann::json{{"type", "u32"}, {"value", 7}}));
  EXPECT_EQ(json["metadata"]["words"]["value"],
            (nlohmann::json{{"of", "string"}, {"count", 6}, {"first", {"one", "two", "three", "four"}}}));
  ASSERT_EQ(json["tensors"].size(), 3U);
  EXPECT_EQ(json["tensors"][0],
            (nlohmann::json{{"name", "embed"}, {"dtype", "Q4_0"}, {"shape", {3, 64}}, {"bytes", 108}}));
}

TEST(InspectGguf, RefusesADamagedFileAndHashesThatAreNotThere) {
  const TemporaryFolder folder;
  const std::string path = (folder / "model.gguf").string(), bytes = small_gguf();
  write_bytes(path, bytes.substr(0, bytes.size() - 1));
  const ProgramResult cut = run_program({"inspect", path});
  EXPECT_EQ(cut.status, 1);
  EXPECT_EQ(cut.out, "");
  EXPECT_TRUE(contains(cut.err, path + ": tensor 'odd': ends at byte")) << cut.err;
  write_bytes(path, bytes);
  const ProgramResult verify = run_program({"inspect", path, "--verify"});
  EXPECT_EQ(verify.status, 1);
  EXPECT_TRUE(contains(verify.err, "--verify needs a checkpoint directory")) << verify.err;
}

}  // namespace
}  // namespace onceover
