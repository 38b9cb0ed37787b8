// The door between the program and the module: shut until it is asked for, and never silent.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "cli/program.h"
#include "execution/torch_module.h"
#include "support/errors.h"
#include "support/places.h"
#include "support/temporary_folder.h"

namespace onceover {
namespace {

// The libraries that the loader would load for the program.
std::string libraries_of(const std::string& program) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(("ldd '" + program + "'").c_str(), "r"), &pclose);
  std::string text;
  for (int c; (c = std::fgetc(pipe.get())) != EOF;) text += static_cast<char>(c);
  return text;
}

TEST(TorchModule, TheProgramStartsWithoutLibtorch) {
  const std::string libraries = libraries_of(test::program().string());
  EXPECT_TRUE(contains(libraries, "libc.so")) << libraries;
  EXPECT_FALSE(contains(libraries, "torch")) << libraries;
  EXPECT_FALSE(contains(libraries, "libc10")) << libraries;
}

TEST(TorchModule, ABuildWithoutItSaysHowToGetIt) {
  const TemporaryFolder folder;
  const std::string message = error_of([&] { load_torch_module(folder.path()); });
  EXPECT_TRUE(contains(message, "this build has no libtorch executor")) << message;
  EXPECT_TRUE(contains(message, "libtorch-dev")) << message;
}

TEST(TorchModule, AnotherVersionIsRefused) {
  const std::string message =
      error_of([] { load_torch_module(test::program().parent_path() / "tests" / "other_version"); });
  EXPECT_TRUE(contains(message, "found 0.0.0-other; build both again")) << message;
}

TEST(TorchModule, AFileThatIsNoLibraryIsRefused) {
  const TemporaryFolder folder;
  write_bytes(folder / "libonceover_torch.so", "not a library");
  EXPECT_TRUE(contains(error_of([&] { load_torch_module(folder.path()); }), "cannot be loaded"));
}

TEST(TorchModule, ADeviceThatIsNotThereIsAnError) {
  const auto message_for = [](const std::string& device) {
    return error_of([&] { torch_module().make_trainer([](int) { return Plan{}; }, {.device = device}); });
  };
  EXPECT_TRUE(contains(message_for("tpu"), "expected cpu, cuda or cuda:N, found 'tpu'"));
  EXPECT_TRUE(contains(message_for("cuda:x"), "found 'cuda:x'"));
  EXPECT_TRUE(contains(message_for("cuda:99"), "--device cuda:99: ")) << message_for("cuda:99");
}

// Trains for a few steps and lets the result write, all by libtorch.
TEST(TorchModule, TheProgramTrainsAndGeneratesWithIt) {
  const TemporaryFolder folder;
  const auto path = [&](const char* name) { return (folder / name).string(); };
  std::string text;
  for (int i = 0; i < 300; i++) text += std::to_string(i) + " and " + std::to_string(i + 1) + ".\n";
  write_bytes(folder / "text", text);
  ASSERT_EQ(run_program({"tokenizer", "bytes", path("tok")}).status, 0);
  ASSERT_EQ(
      run_program({"prepare", path("text"), "--tokenizer", path("tok"), "--output", path("shards")}).status,
      0);
  write_bytes(
      folder / "run.toml",
      "[model]\nconfig = \"yoco-u-tiny\"\n[data]\nshards = \"" + path("shards") +
          "\"\nsequence_length = 32\n[batch]\ntokens = 64\nmicro_sequences = 2\n[schedule]\nsteps = 3\n"
          "[run]\nprecision = \"bf16\"\nfolder = \"" +
          path("run") + "\"\n");
  const auto trained = run_program({"train", path("run.toml"), "--executor", "torch"});
  ASSERT_EQ(trained.status, 0) << trained.err;
  const auto refused = run_program({"train", path("run.toml")});
  EXPECT_TRUE(contains(refused.err, "run.precision = \"bf16\" needs --executor torch")) << refused.err;
  const std::string checkpoint = path("run/step_000003");
  for (const char* executor : {"cpu", "torch"}) {
    const auto written =
        run_program({"generate", "--model", checkpoint, "--executor", executor, "--temperature", "0",
                     "--max-tokens", "8", "--ignore-eos", "--quiet", "12 and"});
    EXPECT_EQ(written.status, 0) << written.err;
    EXPECT_TRUE(written.out.starts_with("12 and")) << written.out;
  }
  const auto device = run_program({"generate", "--model", checkpoint, "--device", "cuda", "12"});
  EXPECT_TRUE(contains(device.err, "--device cuda needs --executor torch")) << device.err;
}

}  // namespace
}  // namespace onceover
