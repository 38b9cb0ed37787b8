#include "train/hops_source.h"

#include <gtest/gtest.h>

#include <set>

#include "support/errors.h"

namespace onceover {
namespace {

TrainSettings hops_settings() {
  TrainSettings s;
  s.data.task = DataTask::Hops;
  s.data.sequence_length = 16;
  s.hops.chains = 2;
  s.hops.max_hops = 3;
  return s;
}

struct Read {
  std::vector<int32_t> inputs = std::vector<int32_t>(16), targets = std::vector<int32_t>(16);
};

Read first_of(const TokenSource& source) {
  Read read;
  source.read(0, read.inputs, read.targets);
  return read;
}

std::vector<int32_t> first_inputs(const TokenSource& source) { return first_of(source).inputs; }

TEST(HopsSource, HasAProbeForEveryNumberOfHops) {
  const TokenSources sources = open_sources(hops_settings(), {});
  EXPECT_EQ(sources.vocab_size, 8 * (1 + 8));
  ASSERT_EQ(sources.probes.size(), 3U);
  std::set<uint64_t> fingerprints;
  const Read all = first_of(*sources.validation);
  std::vector<int32_t> together(16, -1);
  for (size_t hops = 1; hops <= 3; hops++) {
    const Probe& probe = sources.probes[hops - 1];
    EXPECT_EQ(probe.name, "hops_" + std::to_string(hops));
    EXPECT_TRUE(fingerprints.insert(probe.source.fingerprint).second);
    const Read part = first_of(probe.source);
    EXPECT_EQ(part.inputs, all.inputs);
    for (size_t i = 0; i < 16; i++) {
      if (part.targets[i] >= 0) together[i] = part.targets[i];
    }
  }
  EXPECT_EQ(together, all.targets);
}

TEST(HopsSource, TheHeldOutSequencesAreTheSameForEverySeed) {
  TrainSettings s = hops_settings();
  const TokenSources one = open_sources(s, {});
  s.data.seed = 2;
  const TokenSources two = open_sources(s, {});
  EXPECT_NE(first_inputs(one.train), first_inputs(two.train));
  EXPECT_NE(one.train.fingerprint, two.train.fingerprint);
  EXPECT_EQ(first_inputs(*one.validation), first_inputs(*two.validation));
  EXPECT_EQ(one.validation->fingerprint, two.validation->fingerprint);
}

TEST(HopsSource, RefusesSequencesOfAnotherLength) {
  TrainSettings s = hops_settings();
  s.data.sequence_length = 17;
  EXPECT_EQ(error_of([&] { open_sources(s, {}); }),
            "data.sequence_length must be 16 for 2 chains of 4 nodes, found 17");
}

}  // namespace
}  // namespace onceover
