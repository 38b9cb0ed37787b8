#include "train/hops_source.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/errors.h"

namespace onceover {
namespace {

TrainSettings hops_settings() {
  TrainSettings s;
  s.data.task = DataTask::Hops;
  s.data.sequence_length = 20;
  s.hops.nodes = 6;
  s.hops.max_hops = 3;
  return s;
}

std::vector<int32_t> first_inputs(const TokenSource& source) {
  std::vector<int32_t> inputs(20), targets(20);
  source.read(0, inputs, targets);
  return inputs;
}

TEST(HopsSource, HasAProbeForEveryNumberOfHops) {
  const TokenSources sources = open_sources(hops_settings(), {});
  EXPECT_EQ(sources.vocab_size, 6 * (1 + 6 + 3));
  ASSERT_EQ(sources.probes.size(), 3U);
  for (int hops = 1; hops <= 3; hops++) {
    const Probe& probe = sources.probes[static_cast<size_t>(hops) - 1];
    EXPECT_EQ(probe.name, "hops_" + std::to_string(hops));
    const int32_t query = first_inputs(probe.source).back() - 6 - 36;
    EXPECT_EQ(query / 6 + 1, hops);
  }
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

TEST(HopsSource, RefusesSequencesWithoutRoomForAQuery) {
  TrainSettings s = hops_settings();
  s.data.sequence_length = 7;
  EXPECT_NO_THROW(open_sources(s, {}));
  s.data.sequence_length = 6;
  EXPECT_EQ(error_of([&] { open_sources(s, {}); }),
            "data.sequence_length must be at least 7 for 6 nodes and one query, found 6");
}

}  // namespace
}  // namespace onceover
