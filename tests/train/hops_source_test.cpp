#include "train/hops_source.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/errors.h"

namespace onceover {
namespace {

TrainSettings hops_settings() {
  TrainSettings s;
  s.data.task = DataTask::Hops;
  s.data.sequence_length = 13;
  s.hops.nodes = 6;
  s.hops.max_hops = 3;
  return s;
}

std::vector<int32_t> first_inputs(const TokenSource& source) {
  std::vector<int32_t> inputs(13), targets(13);
  source.read(0, inputs, targets);
  return inputs;
}

TEST(HopsSource, HasAProbeForEveryNumberOfHops) {
  const TokenSources sources = open_sources(hops_settings(), {});
  EXPECT_EQ(sources.vocab_size, 6 * (1 + 6) + 3);
  ASSERT_EQ(sources.probes.size(), 3U);
  for (int hops = 1; hops <= 3; hops++) {
    const Probe& probe = sources.probes[static_cast<size_t>(hops) - 1];
    EXPECT_EQ(probe.name, "hops_" + std::to_string(hops));
    EXPECT_EQ(first_inputs(probe.source)[6], 6 + 36 + hops - 1);
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

TEST(HopsSource, RefusesSequencesWithoutAQueryOrWithMoreThanNodes) {
  TrainSettings s = hops_settings();
  for (const int64_t length : {7, 14}) {
    s.data.sequence_length = length;
    EXPECT_EQ(error_of([&] { open_sources(s, {}); }),
              fmt::format("data.sequence_length must be from 8 to 13 for 6 nodes, found {}", length));
  }
  s.data.sequence_length = 8;
  EXPECT_NO_THROW(open_sources(s, {}));
}

}  // namespace
}  // namespace onceover
