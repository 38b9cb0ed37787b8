#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "support/temporary_folder.h"
#include "weights/damaged_files.h"

namespace onceover {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Five files are sound, the others are refused in a sentence, at once and in little memory.
TEST(Inspect, AcceptsSoundFilesAndRefusesDamagedOnes) {
  const TemporaryFolder folder;
  for (const DamagedFile& file : damaged_files()) {
    const std::string path = (folder / (file.name + ".safetensors")).string();
    write_bytes(path, file.bytes);
    const ProgramResult result = run_program({"inspect", path});
    EXPECT_EQ(result.status, file.reason.empty() ? 0 : 1) << file.name << result.err;
    if (file.reason.empty()) continue;
    EXPECT_EQ(result.out, "") << file.name;
    EXPECT_TRUE(contains(result.err, path) && contains(result.err, file.reason))
        << file.name << ": " << result.err;
    if (!file.tensor.empty()) {
      EXPECT_TRUE(contains(result.err, "'" + file.tensor + "'")) << file.name << ": " << result.err;
    }
  }
}

TEST(Inspect, AFreshCheckpointIsWholeAndAFlippedByteIsNoticed) {
  const TemporaryFolder folder;
  const std::string checkpoint = (folder.path() / "fresh").string();
  ASSERT_EQ(run_program({"init", "yoco-u-tiny", checkpoint, "--seed", "7"}).status, 0);
  const ProgramResult whole = run_program({"inspect", checkpoint, "--verify", "--json"});
  ASSERT_EQ(whole.status, 0) << whole.err;
  const auto json = nlohmann::json::parse(whole.out);
  EXPECT_EQ(json["model"]["architecture"], "yoco-u");
  EXPECT_EQ(json["tensors"].size(), 37u);

  std::fstream weights(folder.path() / "fresh" / "model.safetensors",
                       std::ios::in | std::ios::out | std::ios::binary);
  weights.seekp(-1, std::ios::end).put('\x55');
  weights.close();
  EXPECT_EQ(run_program({"inspect", checkpoint}).status, 0);
  const ProgramResult flipped = run_program({"inspect", checkpoint, "--verify"});
  EXPECT_EQ(flipped.status, 1);
  EXPECT_TRUE(contains(flipped.err, "model.safetensors")) << flipped.err;
}

TEST(Inspect, VerifyNeedsSomethingToVerify) {
  const TemporaryFolder folder;
  const std::string checkpoint = (folder / "fresh").string();
  ASSERT_EQ(run_program({"init", "yoco-tiny", checkpoint}).status, 0);
  EXPECT_TRUE(contains(run_program({"inspect", checkpoint, "--verify"}).out, "2 files, every hash matches"));
  EXPECT_EQ(run_program({"inspect", checkpoint + "/model.safetensors", "--verify"}).status, 1);

  const auto state_path = folder / "fresh" / "state.json";
  const auto state = nlohmann::json::parse(read_bytes(state_path));
  auto nothing_listed = state, another_plan = state;
  nothing_listed["files"] = nlohmann::json::object();
  another_plan["plan_fingerprint"] = "0123456789abcdef";
  write_bytes(state_path, nothing_listed.dump());
  EXPECT_TRUE(contains(run_program({"inspect", checkpoint, "--verify"}).err, "no hash of config.json"));
  write_bytes(state_path, another_plan.dump());
  EXPECT_TRUE(contains(run_program({"inspect", checkpoint}).err, "another model"));
  write_bytes(state_path, state.dump());
  std::filesystem::remove(folder / "fresh" / "config.json");
  EXPECT_EQ(run_program({"inspect", checkpoint, "--verify"}).status, 1);
}

TEST(Inspect, AModelThatDoesNotFitItsConfigIsRefusedByTensor) {
  const TemporaryFolder folder;
  const std::string checkpoint = (folder.path() / "fresh").string();
  ASSERT_EQ(run_program({"init", "yoco-tiny", checkpoint}).status, 0);
  std::filesystem::remove(folder.path() / "fresh" / "state.json");
  const auto config = folder.path() / "fresh" / "config.json";
  auto json = nlohmann::json::parse(std::ifstream(config));
  json["num_hidden_layers"] = 6;
  std::ofstream(config) << json;
  const ProgramResult result = run_program({"inspect", checkpoint});
  EXPECT_EQ(result.status, 1);
  EXPECT_TRUE(contains(result.err, "model.layers.2.self_attn.")) << result.err;
}

TEST(Init, TheSeedDecidesTheNumbers) {
  const TemporaryFolder folder;
  const auto bytes = [&](const std::string& name, const std::string& seed) {
    const auto path = folder.path() / name;
    EXPECT_EQ(
        run_program({"init", "transformer-tiny", path.string(), "--seed", seed, "--dtype", "bf16"}).status,
        0);
    return read_bytes(path / "model.safetensors");
  };
  const std::string first = bytes("a", "1");
  EXPECT_EQ(first, bytes("b", "1"));
  EXPECT_NE(first, bytes("c", "2"));
}

TEST(Init, NeverOverwritesAndNamesWhatItCannotDo) {
  const TemporaryFolder folder;
  const std::string taken = (folder.path() / "taken").string();
  ASSERT_EQ(run_program({"init", "yoco-tiny", taken}).status, 0);
  const ProgramResult again = run_program({"init", "yoco-tiny", taken});
  EXPECT_EQ(again.status, 1);
  EXPECT_TRUE(contains(again.err, "taken")) << again.err;
  EXPECT_EQ(run_program({"inspect", taken, "--verify"}).status, 0);
  const ProgramResult type = run_program({"init", "yoco-tiny", taken + "2", "--dtype", "q9"});
  EXPECT_EQ(type.status, 2);
  EXPECT_TRUE(contains(type.err, "q9")) << type.err;
  EXPECT_FALSE(std::filesystem::exists(taken + "2"));
}

}  // namespace
}  // namespace onceover
