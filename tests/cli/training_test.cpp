// From text to a model that writes, through the program as a user runs it.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/program.h"
#include "support/places.h"
#include "support/random.h"
#include "support/temporary_folder.h"

namespace onceover {
namespace {

// The lines "ab", a document each, as shards of bytes.
void prepare_lines(const TemporaryFolder& folder, int lines) {
  std::ofstream text(folder / "text");
  for (int i = 0; i < lines; i++) text << "ab\n";
  text.close();
  const std::string tokenizer = (folder / "tokenizer").string(), shards = (folder / "shards").string();
  EXPECT_EQ(run_program({"tokenizer", "bytes", tokenizer}).status, 0);
  const ProgramResult prepared = run_program({"prepare", (folder / "text").string(), "--separator", "\\n",
                                              "--tokenizer", tokenizer, "--output", shards});
  ASSERT_EQ(prepared.status, 0) << prepared.err;
}

// `onceover train` on those shards in the folder `run`, with further settings behind it.
std::vector<std::string> train_arguments(const TemporaryFolder& folder, const std::string& run) {
  std::ofstream(folder / "settings.toml") << fmt::format(R"(
    [model]
    config = "yoco-u-tiny"
    [data]
    shards = "{0}/shards"
    sequence_length = 16
    [batch]
    tokens = 64
    micro_sequences = 4
    [optimiser]
    learning_rate = 0.003
    [run]
    threads = 1
    tensorboard = false
    )",
                                                         folder.path().string());
  return {"train", (folder / "settings.toml").string(), "--run.folder=" + run};
}

std::vector<std::string> plus(std::vector<std::string> arguments, const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(TrainedModel, LearnsWhereADocumentEnds) {
  const TemporaryFolder folder;
  const std::string run = (folder / "run").string();
  prepare_lines(folder, 500);
  const ProgramResult trained =
      run_program(plus(train_arguments(folder, run), {"--schedule.steps=200", "--run.log_every=100"}));
  ASSERT_EQ(trained.status, 0) << trained.err;
  const ProgramResult written =
      run_program({"generate", "--model", run + "/step_000200", "--temperature", "0", "a"});
  EXPECT_EQ(written.out, "ab\n");
  EXPECT_NE(written.err.find("ended by stop"), std::string::npos) << written.err;
  EXPECT_NE(written.err.find("keys and values "), std::string::npos) << written.err;
  const std::vector<std::string> again = {"generate",      "--model", run + "/step_000200",
                                          "--temperature", "0",       "a"};
  EXPECT_EQ(run_program(plus(again, {"--kv", "f16", "--max-kv", "64M"})).out, "ab\n");
  const ProgramResult refused = run_program(plus(again, {"--max-kv", "100"}));
  EXPECT_EQ(refused.status, 1);
  EXPECT_NE(refused.err.find("beyond the limit of 100"), std::string::npos) << refused.err;
}

// `onceover train` in a process of its own.
class RunningTraining {
 public:
  explicit RunningTraining(const std::vector<std::string>& arguments) {
    std::vector<std::string> words = plus({test::program().string()}, arguments);
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    for (int fd : {STDOUT_FILENO, STDERR_FILENO})
      posix_spawn_file_actions_addopen(&quiet, fd, "/dev/null", O_WRONLY, 0);
    if (posix_spawn(&child_, argv[0], &quiet, nullptr, argv.data(), environ) != 0) child_ = -1;
    posix_spawn_file_actions_destroy(&quiet);
  }
  bool running() const {
    siginfo_t ended{};
    return child_ > 0 && waitid(P_PID, child_, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == 0;
  }
  // Whether it was still training.
  bool kill() const {
    int status = 0;
    return child_ > 0 && ::kill(child_, SIGKILL) == 0 && waitpid(child_, &status, 0) == child_ &&
           WIFSIGNALED(status);
  }

 private:
  pid_t child_ = -1;
};

int64_t newest_step(const std::filesystem::path& run) {
  int64_t newest = 0;
  if (!std::filesystem::exists(run)) return newest;
  for (const auto& entry : std::filesystem::directory_iterator(run)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("step_") && name.size() == std::string("step_000000").size())
      newest = std::max<int64_t>(newest, std::stoll(name.substr(5)));
  }
  return newest;
}

void await_step(const RunningTraining& child, const std::filesystem::path& run, int64_t step) {
  while (child.running() && newest_step(run) < step)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// Milliseconds from the start of a run to its first checkpoint, on this machine at this load.
int64_t milliseconds_to_checkpoint(const std::vector<std::string>& arguments,
                                   const std::filesystem::path& run) {
  const auto begin = std::chrono::steady_clock::now();
  const RunningTraining child(arguments);
  await_step(child, run, 1);
  EXPECT_TRUE(child.kill());
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin)
      .count();
}

TEST(TrainVerb, TakesResumeForShort) {
  const TemporaryFolder folder;
  prepare_lines(folder, 500);
  const auto arguments = plus(train_arguments(folder, (folder / "run").string()), {"--schedule.steps=2"});
  ASSERT_EQ(run_program(plus(arguments, {"--resume=auto"})).status, 0);
  const ProgramResult again = run_program(plus(arguments, {"--resume=never"}));
  EXPECT_EQ(again.status, 1);
  EXPECT_NE(again.err.find("holds a run already"), std::string::npos) << again.err;
}

// Documents of 3 and 300 bytes in sequences of 16 tokens, of which the window shows 8; how many of a sequence
// are scored differs.
TEST(TrainVerb, SplitsAStepOfUnequalDocumentsWithoutChangingIt) {
  const TemporaryFolder folder;
  prepare_lines(folder, 100);
  std::ofstream text(folder / "text");
  for (int i = 0; i < 60; i++)
    text << (i % 4 == 3 ? std::string(300, static_cast<char>('c' + i % 7)) : "abc") << '\n';
  text.close();
  const std::string shards = (folder / "unequal").string();
  ASSERT_EQ(run_program({"prepare", (folder / "text").string(), "--separator", "\\n", "--tokenizer",
                         (folder / "tokenizer").string(), "--output", shards})
                .status,
            0);
  std::vector<std::vector<nlohmann::json>> records(2);
  for (const size_t split : {0, 1}) {
    const std::string run = (folder / std::to_string(split)).string();
    const ProgramResult trained =
        run_program(plus(train_arguments(folder, run),
                         {"--schedule.steps=3", "--data.shards=" + shards, "--data.mask_document_starts=true",
                          split == 0 ? "--batch.micro_sequences=4" : "--batch.micro_sequences=1"}));
    ASSERT_EQ(trained.status, 0) << trained.err;
    std::ifstream lines(folder / std::to_string(split) / "train.jsonl");
    for (std::string line; std::getline(lines, line);) records[split].push_back(nlohmann::json::parse(line));
  }
  ASSERT_EQ(records[0].size(), 3U);
  ASSERT_EQ(records[1].size(), 3U);
  for (size_t i = 0; i < 3; i++) {
    EXPECT_EQ(records[0][i]["tokens"], records[1][i]["tokens"]);
    for (const char* key : {"loss", "grad_norm"}) {
      ASSERT_TRUE(records[0][i][key].is_number()) << records[0][i];  // what is not finite is null
      const double whole = records[0][i][key], parts = records[1][i][key];
      EXPECT_NEAR(parts, whole, 1e-5 * whole) << key << " of step " << i + 1;
    }
  }
}

TEST(TrainVerb, TruncatesGradientsAfterTheLoopsAskedFor) {
  const TemporaryFolder folder;
  prepare_lines(folder, 100);
  const auto model_with = [&](const std::string& loops) {
    const std::string run = (folder / ("loops_" + loops)).string();
    const ProgramResult trained = run_program(
        plus(train_arguments(folder, run), {"--schedule.steps=2", "--loops.gradient_loops=" + loops}));
    EXPECT_EQ(trained.status, 0) << trained.err;
    return bytes_of(std::filesystem::path(run) / "step_000002" / "model.safetensors");
  };
  const std::string full = model_with("0");
  EXPECT_EQ(model_with("3"), full);  // yoco-u-tiny has 3 loops
  EXPECT_NE(model_with("1"), full);
  EXPECT_NE(model_with("2"), full);
}

TEST(TrainVerb, ARunBeyondTheStepsAskedForIsDoneAlready) {
  const TemporaryFolder folder;
  prepare_lines(folder, 500);
  const auto arguments = train_arguments(folder, (folder / "run").string());
  ASSERT_EQ(run_program(plus(arguments, {"--schedule.steps=3"})).status, 0);
  const ProgramResult fewer = run_program(plus(arguments, {"--schedule.steps=2"}));
  EXPECT_EQ(fewer.status, 0);
  EXPECT_TRUE(fewer.out.starts_with("done already: step 3, 2 are asked for, ")) << fewer.out;
  EXPECT_EQ(fewer.err, "nothing to train: step 3 is there, 2 are asked for\n");
}

TEST(TrainVerb, GoesOnWithTheSameShardsAtAnotherPath) {
  const TemporaryFolder folder;
  prepare_lines(folder, 500);
  const auto arguments = train_arguments(folder, (folder / "run").string());
  ASSERT_EQ(run_program(plus(arguments, {"--schedule.steps=1"})).status, 0);
  std::filesystem::create_directory_symlink(folder / "shards", folder / "link");
  std::filesystem::copy(folder / "shards", folder / "copy");
  int steps = 1;
  for (const char* path : {"link", "copy", "shards/../link/."}) {
    const ProgramResult on = run_program(plus(arguments, {fmt::format("--schedule.steps={}", ++steps),
                                                          "--data.shards=" + (folder / path).string()}));
    EXPECT_EQ(on.status, 0) << path << ": " << on.err;
    EXPECT_NE(on.err.find(fmt::format("going on after step {}", steps - 1)), std::string::npos) << on.err;
  }
}

TEST(Prepare, SpeaksOfHeldOutTextWhereItWasAskedFor) {
  const TemporaryFolder folder;
  prepare_lines(folder, 40);
  const auto prepared = [&](const std::string& output, const std::vector<std::string>& more) {
    return run_program(plus({"prepare", (folder / "text").string(), "--separator", "\\n", "--tokenizer",
                             (folder / "tokenizer").string(), "--output", (folder / output).string()},
                            more))
        .out;
  };
  EXPECT_EQ(prepared("none", {}).find("heldout"), std::string::npos);
  EXPECT_NE(prepared("some", {"--held-out-every", "4"}).find("heldout  "), std::string::npos);
}

// A limit of 0 bytes a file stands for a full disk.
TEST(FullDisk, LeavesNoEmptyFolderBehind) {
  const TemporaryFolder folder;
  prepare_lines(folder, 40);
  const auto at = [&](const char* name) { return (folder / name).string(); };
  const auto settings = train_arguments(folder, at("out/run"));
  const std::vector<std::vector<std::string>> commands = {
      {"tokenizer", "bytes", at("out/tokenizer")},
      {"prepare", at("text"), "--tokenizer", at("tokenizer"), "--output", at("out/shards")},
      plus(settings, {"--schedule.steps=1"})};
  for (const auto& command : commands) {
    std::string line = "ulimit -f 0; exec " + test::program().string();
    for (const std::string& word : command) line += " '" + word + "'";
    EXPECT_NE(std::system(("( " + line + " ) > /dev/null 2>&1").c_str()), 0) << line;
    EXPECT_FALSE(std::filesystem::exists(folder / "out")) << line;
  }
}

TEST(KillSoak, FiftyKillsOfTheProgramLeaveTheSameModel) {
  constexpr int kills = 50;
  test::FreshRandom random;
  const TemporaryFolder folder;
  prepare_lines(folder, 500);
  const std::string killed = (folder / "killed").string();
  const auto endless =
      plus(train_arguments(folder, killed), {"--schedule.tokens=100000000", "--schedule.shape=wsd",
                                             "--checkpoint.every=1", "--checkpoint.keep_last=2"});
  const int64_t longest = 2 * milliseconds_to_checkpoint(endless, killed);
  int64_t newest = 0, advanced = 0;
  for (int i = 0; i < kills; i++) {
    const RunningTraining child(endless);
    std::this_thread::sleep_for(std::chrono::milliseconds(random.between(0, longest)));
    ASSERT_TRUE(child.kill()) << "the run ended by itself";
    const int64_t step = newest_step(killed);
    ASSERT_GE(step, newest);
    advanced += step > newest;
    newest = step;
  }
  EXPECT_GT(advanced, 0);

  const std::string whole = (folder / "whole").string(), last = fmt::format("step_{:06}", newest);
  std::vector<std::string> once = endless;
  once.back() = "--checkpoint.keep_last=1000000";
  std::replace(once.begin(), once.end(), "--run.folder=" + killed, "--run.folder=" + whole);
  const RunningTraining uninterrupted(once);
  await_step(uninterrupted, whole, newest);
  ASSERT_TRUE(uninterrupted.kill());
  for (const char* file : {"model.safetensors", "optimizer.safetensors"}) {
    EXPECT_EQ(bytes_of(folder / "killed" / last / file), bytes_of(folder / "whole" / last / file)) << file;
  }
}

}  // namespace
}  // namespace onceover
