#include "weights/checkpoint.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <random>

#include "architectures/presets.h"
#include "architectures/registry.h"
#include "base/error.h"
#include "support/child_process.h"
#include "support/errors.h"
#include "support/fresh_seed.h"
#include "support/temporary_folder.h"
#include "weights/bind.h"
#include "weights/init.h"

namespace onceover {
namespace {

using Existing = AtomicDirectory::Existing;

class CheckpointDirectory : public testing::Test {
 protected:
  CheckpointDirectory()
      : plan_(build(*find_preset("yoco-u-tiny"))),
        weights_(initial_weights(plan_, 1)),
        target_(folder_ / "step_000007") {}

  void save(int step, uint64_t max_shard_bytes = CheckpointWriter::default_shard_bytes) const {
    CheckpointWriter writer(target_, Existing::Replace);
    writer.add_config(R"({"hidden_size": 64})");
    writer.add_weights(name_weights(plan_, weights_), max_shard_bytes);
    writer.commit(plan_.fingerprint(), {{"step", step}});
  }

  TemporaryFolder folder_;
  Plan plan_;
  std::vector<std::vector<float>> weights_;
  std::filesystem::path target_;
};

TEST_F(CheckpointDirectory, GivesBackWhatWasSaved) {
  write_bytes(folder_ / "tokenizer.json", "{\"version\": \"1.0\"}\n");
  write_bytes(folder_ / "tokenizer_config.json", "{}");
  {
    CheckpointWriter writer(target_, Existing::Refuse);
    writer.add_config(R"({"hidden_size": 64})");
    writer.add_weights(name_weights(plan_, weights_));
    const std::vector<float> moments{1, 2};
    writer.add_tensors("optimizer.safetensors", {{"m", view_of(moments, {2})}});
    for (const auto& file : tokenizer_files_in(folder_.path())) writer.add_copy(file);
    writer.commit(plan_.fingerprint(), {{"step", 7}});
  }
  const Checkpoint checkpoint(target_);
  EXPECT_EQ(checkpoint.config_text(), R"({"hidden_size": 64})");
  EXPECT_EQ(checkpoint.state()["step"], 7);
  const auto views = bind_weights(plan_, checkpoint.tensors(), "checkpoint");
  for (size_t i = 0; i < views.size(); i++) EXPECT_EQ(to_f32(views[i]), weights_[i]);
  ASSERT_EQ(checkpoint.tokenizer_files().size(), 2U);
  EXPECT_EQ(read_bytes(checkpoint.tokenizer_files()[0]), "{\"version\": \"1.0\"}\n");
  EXPECT_EQ(Safetensors(target_ / "optimizer.safetensors").tensors().size(), 1U);
  EXPECT_NO_THROW(checkpoint.verify());
  EXPECT_NO_THROW(checkpoint.require_plan(plan_.fingerprint()));
}

TEST_F(CheckpointDirectory, MayBeSharded) {
  save(1, 10'000);
  const Checkpoint checkpoint(target_);
  EXPECT_TRUE(std::filesystem::exists(target_ / "model.safetensors.index.json"));
  EXPECT_EQ(bind_weights(plan_, checkpoint.tensors(), "checkpoint").size(), weights_.size());
  EXPECT_NO_THROW(checkpoint.verify());
}

TEST_F(CheckpointDirectory, IsNotSeenWithoutCommit) {
  {
    CheckpointWriter writer(target_, Existing::Refuse);
    writer.add_config("{}");
  }
  EXPECT_EQ(folder_.entries(), 0U);
}

TEST_F(CheckpointDirectory, RefusesAnotherPlan) {
  save(1);
  const std::string error = error_of([&] { Checkpoint(target_).require_plan(plan_.fingerprint() + 1); });
  EXPECT_TRUE(contains(error, "saved from another model")) << error;
}

TEST_F(CheckpointDirectory, FindsOneFlippedBitInAnyFile) {
  save(1);
  for (const char* name : {"config.json", "model.safetensors"}) {
    const std::string sound = read_bytes(target_ / name);
    std::string damaged = sound;
    damaged.back() = static_cast<char>(damaged.back() ^ 1);
    write_bytes(target_ / name, damaged);
    const std::string error = error_of([&] { Checkpoint(target_).verify(); });
    EXPECT_TRUE(contains(error, std::string(name) + ": damaged: hash")) << error;
    write_bytes(target_ / name, sound);
  }
  EXPECT_NO_THROW(Checkpoint(target_).verify());
}

TEST_F(CheckpointDirectory, NamesBothSizesOfAFileCutShort) {
  save(1);
  write_bytes(target_ / "config.json", "{}");
  const std::string error = error_of([&] { Checkpoint(target_).verify(); });
  EXPECT_TRUE(contains(error, "config.json: damaged: 2 bytes, expected 19")) << error;
}

TEST_F(CheckpointDirectory, RefusesAnotherFormatVersionAndABrokenState) {
  save(1);
  const std::pair<const char*, const char*> cases[] = {
      {R"({"format_version": 2})", "format version 2, this program reads 1"},
      {R"({"format_version": "1"})", "expected number as 'format_version', found string"},
      {"{}", "as 'format_version', found nothing"},
      {"[]", "as 'format_version', found nothing"},
      {R"({"format_version": 1, "plan_fingerprint": 3})", "expected string as 'plan_fingerprint'"},
      {R"({"format_version": 1, "plan_fingerprint": "0", "state": {}, "files": {"../x": {"bytes": 1, "xxh3": ""}}})",
       "'../x' is not a plain file name"},
      {R"({"format_version": 1, "plan_fingerprint": "0", "state": {}, "files": {"x": 1}})",
       "as 'bytes', found nothing"},
  };
  for (const auto& [text, reason] : cases) {
    write_bytes(target_ / "state.json", text);
    const std::string error = error_of([&] { Checkpoint checkpoint(target_); });
    EXPECT_TRUE(contains(error, "state.json: ") && contains(error, reason)) << text << "\n" << error;
  }
}

TEST_F(CheckpointDirectory, TakesAModelFromElsewhereButVouchesForNothing) {
  save(1);
  std::filesystem::remove(target_ / "state.json");
  const Checkpoint checkpoint(target_);
  EXPECT_TRUE(checkpoint.state().empty());
  EXPECT_TRUE(contains(error_of([&] { checkpoint.require_plan(1); }), "no state.json"));
  EXPECT_TRUE(contains(error_of([&] { checkpoint.verify(); }), "no state.json"));
}

TEST_F(CheckpointDirectory, TheFolderOfARunStandsForItsNewest) {
  save(7);
  write_bytes(folder_ / "latest", "step_000007\n");
  const Checkpoint checkpoint(folder_.path());
  EXPECT_EQ(checkpoint.directory(), target_);
  EXPECT_EQ(checkpoint.state()["step"], 7);
  for (const char* name : {"", "..", "step_000007/..", "/tmp"}) {
    write_bytes(folder_ / "latest", name);
    EXPECT_TRUE(contains(error_of([&] { Checkpoint c(folder_.path()); }), (folder_ / "latest").string()))
        << name;
  }
  write_bytes(folder_ / "latest", "step_000008");
  EXPECT_TRUE(contains(error_of([&] { Checkpoint c(folder_.path()); }), "step_000008/config.json"));
}

TEST_F(CheckpointDirectory, NamesAMissingConfig) {
  save(1);
  std::filesystem::remove(target_ / "config.json");
  EXPECT_TRUE(contains(error_of([&] { Checkpoint checkpoint(target_); }), "config.json: cannot be read"));
}

TEST_F(CheckpointDirectory, KeepsTheOldOneWhenTheDiskFillsUp) {
  save(1);
  const ChildEnd end = fork_and_wait([&] {
    const rlimit limit{64 << 10, 64 << 10};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return std::string("no limit");
    save(2);
    return std::string("saved");
  });
  EXPECT_EQ(end.exit_code, 1);
  EXPECT_TRUE(contains(end.message, "model.safetensors: cannot be written: File too large")) << end.message;
  EXPECT_EQ(Checkpoint(target_).state()["step"], 1);
  EXPECT_EQ(folder_.entries(), 1U);
}

TEST_F(CheckpointDirectory, IsOldOrNewWhenTheWriterIsKilledAtAnyMoment) {
  std::mt19937 random(fresh_seed());
  save(0);
  for (int round = 0; round < 20; round++) {
    const pid_t child = fork();
    if (child == 0) {
      for (int step = 1;; step++) save(step);
    }
    usleep(std::uniform_int_distribution<unsigned>(0, 40'000)(random));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    ASSERT_NO_THROW(Checkpoint(target_).verify()) << "round " << round;
  }
  save(0);
  EXPECT_EQ(folder_.entries(), 1U) << "what killed writers left is removed by the next";
}

}  // namespace
}  // namespace onceover
