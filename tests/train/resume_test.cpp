#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <thread>

#include "report/jsonl.h"
#include "support/errors.h"
#include "support/fresh_seed.h"
#include "train/bigram.h"
#include "train/checkpoint.h"
#include "train/stop_signal.h"
#include "train/trainer.h"
#include "weights/checkpoint.h"

namespace onceover {
namespace {

namespace fs = std::filesystem;
using testing::BigramExecutor;
using testing::MemoryFolder;

struct Trained {
  BigramExecutor executor;
  std::vector<std::string> notices;
  TrainingResult result;

  // Stops after step `last`.
  explicit Trained(const TrainSettings& settings, int64_t last = 1 << 30,
                   const TrainingJob& job = testing::bigram_job()) {
    int64_t step = 0;
    Hooks hooks;
    hooks.on_step = [&](int64_t s, double) { step = s; };
    hooks.stop = [&] { return step >= last; };
    hooks.notice = [this](std::string_view line) { notices.emplace_back(line); };
    result = train(settings, job, executor, hooks);
  }

  std::vector<std::vector<float>> numbers() const { return testing::all_numbers(executor); }
  std::string all_notices() const {
    std::string all;
    for (const auto& line : notices) all += line + "\n";
    return all;
  }
};

TrainSettings saving_settings(const fs::path& folder) {
  TrainSettings s = testing::bigram_settings(folder);
  s.checkpoint.every = 5;
  s.checkpoint.keep_last = 100;
  s.run.tensorboard = false;
  return s;
}

// What a record says, but for the time it took.
std::vector<std::string> timeless_records(const fs::path& folder) {
  std::vector<std::string> lines;
  for (Record r : read_records((folder / "train.jsonl").string())) {
    r.wall_seconds = r.tokens_per_second = 0;
    lines.push_back(to_json(r).dump());
  }
  return lines;
}

TEST(Resume, GoesOnBitForBitAsIfNeverStopped) {
  const MemoryFolder straight, parts;
  const Trained whole(saving_settings(straight.path()));
  std::vector<uint64_t> batches;
  for (int64_t last : {3, 10, 11, 20}) {
    const Trained part(saving_settings(parts.path()), last);
    EXPECT_EQ(part.result.step, last);
    EXPECT_EQ(part.result.stopped, last < 20);
    batches.insert(batches.end(), part.executor.batches.begin(), part.executor.batches.end());
    if (last == 20) {
      EXPECT_EQ(part.numbers(), whole.numbers());
    }
  }
  EXPECT_EQ(batches, whole.executor.batches);
  EXPECT_EQ(std::set<uint64_t>(batches.begin(), batches.end()).size(), 40U);
  EXPECT_EQ(timeless_records(parts.path()), timeless_records(straight.path()));
}

TEST(Resume, TwiceFromOneCheckpointGivesTheSame) {
  const MemoryFolder folder, one, two;
  const Trained first(saving_settings(folder.path()), 10);
  const auto go_on = [&](const fs::path& into) {
    TrainSettings s = saving_settings(into);
    s.checkpoint.resume = first.result.checkpoint;
    return Trained(s);
  };
  const Trained a = go_on(one.path()), b = go_on(two.path());
  EXPECT_EQ(a.executor.batches.size(), 20U);
  EXPECT_EQ(a.executor.batches, b.executor.batches);
  EXPECT_EQ(a.numbers(), b.numbers());
}

TEST(Resume, CutsOffRecordsAfterTheCheckpoint) {
  const MemoryFolder folder;
  const Trained first(saving_settings(folder.path()), 8);
  fs::remove_all(folder.path() / "step_000008");  // as after a kill: records up to 8, checkpoints up to 5
  const Trained second(saving_settings(folder.path()), 6);
  const auto records = read_records((folder.path() / "train.jsonl").string());
  ASSERT_EQ(records.size(), 6U);
  EXPECT_EQ(records.back().step, 6);
}

TEST(Resume, OfAFinishedRunDoesNothing) {
  const MemoryFolder folder;
  const Trained first(saving_settings(folder.path()));
  const Trained again(saving_settings(folder.path()));
  EXPECT_TRUE(again.executor.batches.empty());
  EXPECT_EQ(again.result.step, 20);
  EXPECT_FALSE(again.result.loss.has_value());
  EXPECT_EQ(again.numbers(), first.numbers());
}

TEST(Resume, BeforeTheFirstCheckpointStartsAfresh) {
  const MemoryFolder folder, other;
  { std::ofstream(folder.path() / "train.jsonl") << "{\"step\": 1, \"tor"; }
  fs::create_directory(folder.path() / ".step_000005.partial-1-1");
  EXPECT_EQ(Trained(saving_settings(folder.path())).numbers(),
            Trained(saving_settings(other.path())).numbers());
}

TEST(Resume, NeverRefusesAFolderThatHoldsARun) {
  const MemoryFolder folder;
  const Trained first(saving_settings(folder.path()), 5);
  TrainSettings s = saving_settings(folder.path());
  s.checkpoint.resume = "never";
  EXPECT_NE(error_of([&] { Trained run(s); }).find("holds a run already"), std::string::npos);
}

TEST(Resume, FromAnOlderCheckpointRefusesTheFolderOfLaterOnes) {
  const MemoryFolder folder;
  const Trained first(saving_settings(folder.path()), 10);
  TrainSettings s = saving_settings(folder.path());
  s.checkpoint.resume = (folder.path() / "step_000005").string();
  EXPECT_NE(error_of([&] { Trained run(s); }).find("holds step_000010, which is later"), std::string::npos);
}

TEST(Resume, RefusesAnotherRun) {
  const MemoryFolder folder;
  const Trained first(saving_settings(folder.path()), 5);
  const auto fault = [&](auto change) {
    TrainSettings s = saving_settings(folder.path());
    TrainingJob job = testing::bigram_job();
    change(s, job);
    return error_of([&] { Trained run(s, 100, job); });
  };
  EXPECT_NE(fault([](auto& s, auto&) { s.run.seed = 9; }).find("another run.seed: 1, now 9"),
            std::string::npos);
  EXPECT_NE(fault([](auto& s, auto&) { s.data.seed = 9; }).find("another data.seed"), std::string::npos);
  EXPECT_NE(fault([](auto& s, auto&) {
              s.data.sequence_length = 16;
            }).find("another data.sequence_length: 8, now 16"),
            std::string::npos);
  EXPECT_NE(fault([](auto&, auto& job) { job.train.fingerprint++; }).find("another text or task"),
            std::string::npos);
  EXPECT_NE(fault([](auto&, auto& job) {
              job.model.loops = 2;
            }).find("was saved from another model: plan fingerprint"),
            std::string::npos);
}

TEST(Resume, WithAnotherBatchSizeReadsOnFromTheSamePlace) {
  const MemoryFolder folder;
  const Trained first(saving_settings(folder.path()), 5);
  TrainSettings s = saving_settings(folder.path());
  s.batch.tokens = 64;
  std::vector<int64_t> read;
  TrainingJob job = testing::bigram_job();
  job.train.read = [&read, inner = job.train.read](int64_t i, auto inputs, auto targets) {
    read.push_back(i);
    inner(i, inputs, targets);
  };
  const Trained second(s, 6, job);
  EXPECT_EQ(read, (std::vector<int64_t>{20, 21, 22, 23, 24, 25, 26, 27}));
}

TEST(RunFolder, IsLockedByTheRunInIt) {
  const MemoryFolder folder;
  const TrainSettings s = saving_settings(folder.path());
  Hooks hooks;
  std::string message;
  hooks.on_step = [&](int64_t, double) { message = error_of([&] { Trained inner(s); }); };
  BigramExecutor executor;
  train(s, testing::bigram_job(), executor, hooks);
  EXPECT_NE(message.find("another process is training in this folder"), std::string::npos);
}

TEST(Checkpoints, OnlyTheLastOnesAreKept) {
  const MemoryFolder folder;
  TrainSettings s = saving_settings(folder.path());
  s.checkpoint.every = 3;
  s.checkpoint.keep_last = 2;
  const Trained run(s);
  const auto found = find_checkpoints(folder.path());
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].step, 20);
  EXPECT_EQ(found[1].step, 18);
  std::string latest;
  std::ifstream(folder.path() / "latest") >> latest;
  EXPECT_EQ(latest, "step_000020");
  EXPECT_TRUE(fs::exists(folder.path() / "config.resolved.toml"));
}

TEST(Checkpoints, HoldAModelDirectory) {
  const MemoryFolder folder;
  { std::ofstream(folder.path() / "tokenizer.json") << "{}"; }
  TrainingJob job = testing::bigram_job();
  job.model.tokenizer_files = {folder.path() / "tokenizer.json"};
  TrainSettings s = saving_settings(folder.path() / "run");
  const Trained run(s, 100, job);
  const Checkpoint checkpoint(run.result.checkpoint);
  checkpoint.verify();
  EXPECT_EQ(checkpoint.config_text(), job.model.config_json);
  EXPECT_EQ(checkpoint.tokenizer_files().size(), 1U);
  EXPECT_EQ(to_f32(checkpoint.tensors().at("lm_head.weight")),
            run.executor.read(1, TrainingExecutor::Tensor::Weight));

  TrainSettings tuning = testing::bigram_settings();
  tuning.optimiser.learning_rate = 0;
  job.model.start = [&](WeightId id) {
    return to_f32(checkpoint.tensors().at(run.executor.weights()[id].name));
  };
  const Trained tuned(tuning, 100, job);
  EXPECT_EQ(tuned.executor.read(0, TrainingExecutor::Tensor::Weight),
            run.executor.read(0, TrainingExecutor::Tensor::Weight));
}

class DamagedCheckpoint : public ::testing::Test {
 protected:
  MemoryFolder straight_, folder_;
  std::vector<std::vector<float>> expected_ = Trained(saving_settings(straight_.path())).numbers();
  fs::path newest_ = folder_.path() / "step_000010";

  void SetUp() override { start(); }
  void start() {
    std::error_code ignored;
    for (const auto& found : find_checkpoints(folder_.path())) fs::remove_all(found.path, ignored);
    fs::remove(folder_.path() / "train.jsonl");
    const Trained first(saving_settings(folder_.path()), 10);
    ASSERT_TRUE(fs::exists(newest_));
  }
  void expect_passed_over(const std::string& damage) {
    const Trained run(saving_settings(folder_.path()));
    EXPECT_NE(run.all_notices().find("passed over step_000010: "), std::string::npos)
        << damage << run.all_notices();
    EXPECT_EQ(run.executor.batches.size(), 30U) << damage;
    EXPECT_EQ(run.numbers(), expected_) << damage;
  }
};

TEST_F(DamagedCheckpoint, WithAByteFlippedIsPassedOver) {
  std::mt19937_64 random(fresh_seed());
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(newest_)) names.push_back(entry.path().filename().string());
  EXPECT_EQ(names.size(), 4U);
  for (const auto& name : names) {
    const fs::path file = newest_ / name;
    const auto at = static_cast<int64_t>(random() % fs::file_size(file));
    const int bit = static_cast<int>(random() % 8);
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(at);
    const int byte = stream.get();
    // White space between JSON's words may become other white space: that is no damage.
    if (name == "state.json" && (byte == ' ' || byte == '\n')) continue;
    stream.seekp(at);
    stream.put(static_cast<char>(byte ^ (1 << bit)));
    stream.close();
    expect_passed_over(fmt::format("{} byte {} bit {}\n", name, at, bit));
    start();
  }
}

TEST_F(DamagedCheckpoint, WithAFileMissingOrCutIsPassedOver) {
  for (const char* name : {"config.json", "model.safetensors", "optimizer.safetensors", "state.json"}) {
    fs::remove(newest_ / name);
    expect_passed_over(name);
    start();
    fs::resize_file(newest_ / name, fs::file_size(newest_ / name) / 2);
    expect_passed_over(name);
    start();
  }
}

TEST_F(DamagedCheckpoint, WithAnotherPlaceInTheTextIsPassedOver) {
  std::string state = read_bytes(newest_ / "state.json");
  const std::string place = "\"sequences\": 40";
  ASSERT_TRUE(contains(state, place));
  state.replace(state.find(place), place.size(), "\"sequences\": 41");
  write_bytes(newest_ / "state.json", state);
  expect_passed_over("state.json says 41 sequences");
}

TEST_F(DamagedCheckpoint, ThatIsEmptyIsPassedOver) {
  fs::remove_all(newest_);
  fs::create_directory(newest_);
  expect_passed_over("empty");
}

TEST_F(DamagedCheckpoint, DoesNotCrowdOutWholeOnesOfEarlierSteps) {
  fs::remove(newest_ / "model.safetensors");
  TrainSettings s = saving_settings(folder_.path());
  s.checkpoint.every = 1;
  s.checkpoint.keep_last = 1;
  const Trained first(s, 7);
  const auto found = find_checkpoints(folder_.path());
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].path, newest_);
  EXPECT_EQ(found[1].step, 7);
  EXPECT_EQ(Trained(s).numbers(), expected_);
}

TEST_F(DamagedCheckpoint, IsNoReasonToStartAgainWhenAllAre) {
  for (const auto& found : find_checkpoints(folder_.path())) fs::remove(found.path / "state.json");
  EXPECT_NE(error_of([&] {
              Trained run(saving_settings(folder_.path()));
            }).find("none of its 2 checkpoints is whole"),
            std::string::npos);
}

TEST_F(DamagedCheckpoint, NamedOutrightIsRefused) {
  fs::remove(newest_ / "optimizer.safetensors");
  const MemoryFolder other;
  TrainSettings s = saving_settings(other.path());
  s.checkpoint.resume = newest_.string();
  EXPECT_NE(error_of([&] { Trained run(s); }).find("optimizer.safetensors"), std::string::npos);
}

// Files may not grow beyond `bytes` while it lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    before_handler_ = signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, before_handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*before_handler_)(int) = nullptr;
};

TEST(FullDisk, StopsTrainingWithTheLastCheckpointWhole) {
  const MemoryFolder folder, straight;
  TrainSettings s = saving_settings(folder.path());
  s.checkpoint.every = 1;
  s.checkpoint.keep_last = 1;
  std::optional<FileSizeLimit> limit;
  Hooks hooks;
  hooks.on_step = [&](int64_t step, double) {
    if (step == 4) limit.emplace(64);
  };
  BigramExecutor executor;
  const std::string message = error_of([&] { train(s, testing::bigram_job(), executor, hooks); });
  limit.reset();
  EXPECT_NE(message.find("training stopped after step 4 of 20: "), std::string::npos) << message;
  EXPECT_NE(message.find("File too large"), std::string::npos) << message;
  EXPECT_NE(message.find("the newest checkpoint is " + (folder.path() / "step_000003").string()),
            std::string::npos);
  EXPECT_EQ(find_checkpoints(folder.path()).size(), 1U);
  EXPECT_EQ(Trained(s).numbers(), Trained(saving_settings(straight.path())).numbers());
}

TEST(NonFiniteNumbers, LeaveTheLastGoodCheckpointAlone) {
  const MemoryFolder folder, straight;
  TrainSettings s = saving_settings(folder.path());
  s.checkpoint.every = 1;
  BigramExecutor executor;
  executor.poisoned_update = 7;  // found when step 7 is to be saved
  const std::string message = error_of([&] { train(s, testing::bigram_job(), executor); });
  EXPECT_NE(message.find("not saved: element 7 of lm_head.weight is nan"), std::string::npos) << message;
  EXPECT_NE(message.find("step_000006"), std::string::npos) << message;
  EXPECT_EQ(find_checkpoints(folder.path()).front().step, 6);
  EXPECT_EQ(Trained(s).numbers(), Trained(saving_settings(straight.path())).numbers());
}

TEST(StopSignal, FinishesTheStepAndSaves) {
  const MemoryFolder folder, straight;
  for (int number : {SIGINT, SIGTERM}) {
    const StopSignal stop;
    Hooks hooks;
    int64_t first = 0;
    hooks.on_step = [&](int64_t step, double) {
      if (first == 0) raise(number);
      if (first == 0) first = step;
    };
    hooks.stop = [&] { return stop.asked(); };
    BigramExecutor executor;
    const TrainingResult result =
        train(saving_settings(folder.path()), testing::bigram_job(), executor, hooks);
    EXPECT_TRUE(result.stopped);
    EXPECT_EQ(result.step, first);
    EXPECT_EQ(fs::path(result.checkpoint).filename(), checkpoint_name(first));
  }
  EXPECT_EQ(Trained(saving_settings(folder.path())).numbers(),
            Trained(saving_settings(straight.path())).numbers());
}

TEST(StopSignal, GivenTwiceEndsTheProgramAtOnce) {
  const pid_t child = fork();
  if (child == 0) {
    const StopSignal stop;
    raise(SIGINT);
    if (!stop.asked()) _exit(1);
    raise(SIGINT);
    _exit(2);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
  EXPECT_EQ(WTERMSIG(status), SIGINT);
}

// A child that trains, saving every step, until it is killed.
class TrainingChild {
 public:
  explicit TrainingChild(const TrainSettings& settings) : child_(fork()) {
    if (child_ != 0) return;
    try {
      const Trained run(settings);
    } catch (...) {
      _exit(1);
    }
    _exit(0);
  }
  // Whether it was still training.
  bool kill() const {
    ::kill(child_, SIGKILL);
    int status = 0;
    return waitpid(child_, &status, 0) == child_ && WIFSIGNALED(status);
  }

 private:
  pid_t child_;
};

int64_t newest_step(const fs::path& folder) {
  const auto found = find_checkpoints(folder);
  return found.empty() ? 0 : found.front().step;
}

TrainSettings endless_settings(const fs::path& folder) {
  TrainSettings s = saving_settings(folder);
  s.schedule.steps = 100000;
  s.checkpoint.every = 1;
  s.checkpoint.keep_last = 2;
  return s;
}

// How long a child takes to its third checkpoint, on this machine at this load.
std::chrono::microseconds life_to_third_checkpoint() {
  const MemoryFolder folder;
  const auto begin = std::chrono::steady_clock::now();
  const TrainingChild child(endless_settings(folder.path()));
  while (newest_step(folder.path()) < 3) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  child.kill();
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin);
}

TEST(KillSoak, FiftyKillsAreAsIfTheyHadNotBeen) {
  constexpr int kills = 50;
  std::mt19937_64 random(fresh_seed());
  const auto longest = static_cast<uint64_t>(2 * life_to_third_checkpoint().count());
  const MemoryFolder folder;
  const TrainSettings s = endless_settings(folder.path());
  int advanced = 0;
  int64_t newest = 0;
  for (int i = 0; i < kills; i++) {
    const TrainingChild child(s);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % longest));
    ASSERT_TRUE(child.kill()) << "the run ended by itself";
    const int64_t step = newest_step(folder.path());
    ASSERT_GE(step, newest);
    advanced += step > newest;
    newest = step;
  }
  std::cout << advanced << " of " << kills << " lives saved something, up to step " << newest << "\n";
  ASSERT_GT(advanced, 0);
  const int64_t last = newest + 3;
  const Trained resumed(s, last);
  EXPECT_EQ(resumed.all_notices(), fmt::format("going on after step {} of 100000\n", newest));
  TrainSettings once = endless_settings({});
  once.checkpoint.every = 0;
  const Trained uninterrupted(once, last);
  EXPECT_EQ(resumed.result.step, last);
  EXPECT_EQ(resumed.numbers(), uninterrupted.numbers());
  EXPECT_EQ(read_records((folder.path() / "train.jsonl").string()).size(), static_cast<size_t>(last));
}

}  // namespace
}  // namespace onceover
