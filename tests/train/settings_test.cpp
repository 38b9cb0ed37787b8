#include "train/settings.h"

#include <gtest/gtest.h>

#include "support/errors.h"
#include "train/bigram.h"

namespace onceover {
namespace {

std::string reading(const char* text) {
  return error_of([&] { train_settings_from_toml(text, "run.toml"); });
}

TEST(TrainSettings, AreReadFromToml) {
  const TrainSettings s = train_settings_from_toml(
      "[model]\nconfig = \"yoco-u-tiny\"\n[schedule]\nshape = \"wsd\"\nflops = 1e15\n"
      "[batch]\ntokens = 65_536\n[optimiser]\nlearning_rate = 1\ndecay_norms = true\n",
      "run.toml");
  EXPECT_EQ(s.model.config, "yoco-u-tiny");
  EXPECT_EQ(s.schedule.shape, ScheduleShape::Wsd);
  EXPECT_EQ(s.schedule.flops, 1e15);
  EXPECT_EQ(s.batch.tokens, 65536);
  EXPECT_EQ(s.optimiser.learning_rate, 1.0);
  EXPECT_TRUE(s.optimiser.decay_norms);
  EXPECT_EQ(s.optimiser.beta2, 0.95);
}

TEST(TrainSettings, WrittenAndReadBackAreTheSame) {
  TrainSettings s = testing::bigram_settings("/tmp/a \"quoted\"\\ path\t\x7F é");
  s.optimiser.learning_rate = 0.1 + 0.2;
  s.optimiser.epsilon = 1e-30;
  s.schedule.flops = 1e22;
  s.run.seed = 9007199254740991;
  s.schedule.shape = ScheduleShape::Linear;
  const std::string text = train_settings_to_toml(s);
  const TrainSettings back = train_settings_from_toml(text, "written");
  EXPECT_EQ(train_settings_to_toml(back), text);
  EXPECT_EQ(back.run.folder, s.run.folder);
  EXPECT_EQ(back.optimiser.learning_rate, s.optimiser.learning_rate);
  EXPECT_EQ(back.schedule.flops, s.schedule.flops);
  EXPECT_EQ(back.run.seed, s.run.seed);
}

TEST(TrainSettings, TellTheNearestNameForAnUnknownOne) {
  EXPECT_EQ(reading("[optimiser]\nlearning_rat = 1\n"),
            "run.toml: unknown setting 'optimiser.learning_rat', did you mean 'optimiser.learning_rate'?");
  EXPECT_NE(reading("[optimizer]\nclip = 1\n").find("did you mean 'optimiser.clip'?"), std::string::npos);
  EXPECT_NE(reading("[rum]\n").find("unknown section 'rum'"), std::string::npos);
  EXPECT_NE(reading("steps = 3\n").find("'steps' stands outside a section"), std::string::npos);
}

TEST(TrainSettings, RefuseNamesAndValuesWithoutTheirControlCharacters) {
  EXPECT_NE(reading("[run]\n\"\\u001b[2J\" = 1\n").find("unknown setting 'run.\\x1B[2J'"), std::string::npos);
  EXPECT_NE(reading("[\"\\u001b\"]\n").find("unknown section '\\x1B'"), std::string::npos);
  EXPECT_NE(reading("[run]\nseed = \"\\u0007\"\n").find("found \"\\x07\""), std::string::npos);
}

TEST(TrainSettings, RefuseWrongTypesAndRanges) {
  EXPECT_EQ(reading("[optimiser]\nbeta1 = 1.0\n"),
            "run.toml: optimiser.beta1 must be a number from 0 to 0.9999999, found 1");
  EXPECT_NE(reading("[optimiser]\nbeta1 = nan\n").find("must be a number"), std::string::npos);
  EXPECT_NE(reading("[batch]\ntokens = 3.5\n").find("batch.tokens must be an integer"), std::string::npos);
  EXPECT_NE(reading("[batch]\ntokens = \"3\"\n").find("must be an integer from 1 to"), std::string::npos);
  EXPECT_NE(reading("[run]\ntensorboard = 1\n").find("run.tensorboard must be true or false, found 1"),
            std::string::npos);
  EXPECT_NE(reading("[run]\nfolder = 1\n").find("run.folder must be a string"), std::string::npos);
  EXPECT_NE(reading("[run]\nfolder = [1]\n").find("run.folder must be a string, a number"),
            std::string::npos);
  EXPECT_NE(reading("[schedule]\nshape = \"cosin\"\n").find("one of cosine, linear, wsd, found \"cosin\""),
            std::string::npos);
}

TEST(TrainSettings, NameTheLineOfASyntaxFault) {
  EXPECT_EQ(reading("[run]\nseed = = 3\n").find("run.toml:2: "), 0U);
  EXPECT_EQ(reading("[run]\nseed = 3\nseed = 4\n").find("run.toml:3: "), 0U);
}

TEST(TrainSettings, AreOverriddenByWords) {
  TrainSettings s;
  override_setting(s, "run.folder=123");
  override_setting(s, "schedule.steps=20");
  override_setting(s, "optimiser.learning_rate=1e-3");
  override_setting(s, "memory.recompute=layers");
  override_setting(s, "loops.sampling=binomial");
  override_setting(s, "checkpoint.resume=a=b");
  EXPECT_EQ(s.run.folder, "123");
  EXPECT_EQ(s.schedule.steps, 20);
  EXPECT_EQ(s.optimiser.learning_rate, 1e-3);
  EXPECT_EQ(s.memory.recompute, Recompute::Layers);
  EXPECT_EQ(s.loops.sampling, LoopSampling::Binomial);
  EXPECT_EQ(s.checkpoint.resume, "a=b");
}

TEST(TrainSettings, RefuseFaultyOverridesByName) {
  TrainSettings s;
  EXPECT_EQ(error_of([&] { override_setting(s, "schedule.step=3"); }),
            "command line: unknown setting 'schedule.step', did you mean 'schedule.steps'?");
  EXPECT_NE(error_of([&] {
              override_setting(s, "schedule.steps=3x");
            }).find("command line: schedule.steps must be an integer"),
            std::string::npos);
  EXPECT_NE(error_of([&] { override_setting(s, "schedule.steps"); }).find("--section.key=value"),
            std::string::npos);
}

TEST(TrainSettings, MustFitTogether) {
  const auto fault = [](auto change) {
    TrainSettings s = testing::bigram_settings();
    change(s);
    return error_of([&] { check_train_settings(s, "run.toml"); });
  };
  EXPECT_NO_THROW(check_train_settings(testing::bigram_settings(), "run.toml"));
  EXPECT_NE(fault([](auto& s) { s.batch.tokens = 40; }).find("must be a multiple of 16"), std::string::npos);
  EXPECT_NE(fault([](auto& s) { s.schedule.tokens = 40; }).find("expected one budget"), std::string::npos);
  EXPECT_NE(fault([](auto& s) { s.schedule.steps = 0; }).find("found 0"), std::string::npos);
  EXPECT_NE(fault([](auto& s) { s.model.init = "there"; }).find("model.init"), std::string::npos);
  EXPECT_NE(fault([](auto& s) { s.data.shards = ""; }).find("data.shards is missing"), std::string::npos);
  EXPECT_NE(fault([](auto& s) { s.data.task = DataTask::Swaps; }).find("data.task, found both"),
            std::string::npos);
  EXPECT_NE(fault([](auto& s) { s.checkpoint.every = 1; }).find("needs run.folder"), std::string::npos);
}

}  // namespace
}  // namespace onceover
