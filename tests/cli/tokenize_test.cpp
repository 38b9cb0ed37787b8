#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "support/temporary_folder.h"

namespace onceover {
namespace {

TEST(Tokenize, ShowsTheIdTheBytesAndTheNameOfEachToken) {
  const TemporaryFolder folder;
  const std::string model = (folder / "tok").string();
  ASSERT_EQ(run_program({"tokenizer", "bytes", model}).status, 0);
  EXPECT_EQ(run_program({"tokenize", "--model", model, "--ids", "hi"}).out, "104 105\n");
  EXPECT_EQ(run_program({"tokenize", "--model", model, "hi"}).out, "    104  0..1  h\n    105  1..2  i\n");
  const auto json = nlohmann::json::parse(run_program({"tokenize", "--model", model, "--json", "hi"}).out);
  EXPECT_EQ(json["exact"], true);
  EXPECT_EQ(json["tokens"][1], (nlohmann::json{{"id", 105}, {"piece", "i"}, {"start", 1}, {"end", 2}}));
}

}  // namespace
}  // namespace onceover
