#include "train/swaps_source.h"

#include <gtest/gtest.h>

#include <set>

namespace onceover {
namespace {

constexpr int64_t length = 20;

TrainSettings swaps_settings() {
  TrainSettings s;
  s.data.task = DataTask::Swaps;
  s.data.sequence_length = length;
  s.swaps.places = 4;
  return s;
}

struct Read {
  std::vector<int32_t> inputs = std::vector<int32_t>(length), targets = std::vector<int32_t>(length);
};

Read first_of(const TokenSource& source) {
  Read read;
  source.read(0, read.inputs, read.targets);
  return read;
}

TEST(SwapsSource, HasAProbeForEveryDoublingOfTheSwaps) {
  const TokenSources sources = open_sources(swaps_settings(), {});
  EXPECT_EQ(sources.vocab_size, 4 + 6);
  std::vector<std::string> names;
  std::set<uint64_t> fingerprints;
  const Read all = first_of(*sources.validation);
  std::vector<int32_t> together(length, -1);
  std::vector<int64_t> scored;
  for (const Probe& probe : sources.probes) {
    names.push_back(probe.name);
    EXPECT_TRUE(fingerprints.insert(probe.source.fingerprint).second);
    const Read part = first_of(probe.source);
    EXPECT_EQ(part.inputs, all.inputs);
    scored.push_back(0);
    for (size_t i = 0; i < length; i++) {
      if (part.targets[i] < 0) continue;
      EXPECT_EQ(together[i], -1);
      together[i] = part.targets[i];
      scored.back()++;
    }
  }
  EXPECT_EQ(names, (std::vector<std::string>{"swaps_4", "swaps_8", "swaps_16", "swaps_20"}));
  EXPECT_EQ(scored, (std::vector<int64_t>{4, 4, 8, 4}));
  EXPECT_EQ(together, all.targets);
}

TEST(SwapsSource, TheHeldOutSequencesAreTheSameForEverySeed) {
  TrainSettings s = swaps_settings();
  const TokenSources one = open_sources(s, {});
  s.data.seed = 2;
  const TokenSources two = open_sources(s, {});
  EXPECT_NE(first_of(one.train).inputs, first_of(two.train).inputs);
  EXPECT_NE(one.train.fingerprint, two.train.fingerprint);
  EXPECT_EQ(first_of(*one.validation).inputs, first_of(*two.validation).inputs);
  EXPECT_EQ(one.validation->fingerprint, two.validation->fingerprint);
}

}  // namespace
}  // namespace onceover
