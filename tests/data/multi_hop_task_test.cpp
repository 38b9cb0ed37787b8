#include "data/multi_hop_task.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

#include "support/errors.h"

namespace onceover {
namespace {

struct Sequence {
  std::vector<int32_t> inputs, targets;
};

Sequence read(const MultiHopOptions& options, int64_t sequence) {
  const MultiHopTask task(options);
  const auto length = static_cast<size_t>(task.most_length());
  Sequence s{std::vector<int32_t>(length), std::vector<int32_t>(length)};
  task.read(sequence, s.inputs, s.targets);
  return s;
}

// f, as the pairs of the text tell it.
std::vector<int32_t> function_in(const Sequence& s, int nodes) {
  std::vector<int32_t> f(static_cast<size_t>(nodes), -1);
  for (int i = 0; i < nodes; i++) {
    const int32_t pair = s.inputs[static_cast<size_t>(i)] - nodes;
    EXPECT_GE(pair, 0);
    EXPECT_LT(pair, nodes * nodes);
    EXPECT_EQ(s.targets[static_cast<size_t>(i)], -1);
    f[static_cast<size_t>(pair / nodes)] = pair % nodes;
  }
  return f;
}

class MultiHop : public ::testing::Test {
 protected:
  MultiHop() {
    RecordProperty("seed", std::to_string(seed_));
    std::mt19937 random(seed_);
    options_.nodes = 2 + static_cast<int>(random() % 30);
    options_.max_hops = 1 + static_cast<int>(random() % static_cast<size_t>(options_.nodes - 1));
    options_.seed = random();
    sequence_ = static_cast<int64_t>(random() % 1000000);
  }
  uint32_t seed_ = std::random_device{}();
  MultiHopOptions options_;
  int64_t sequence_;
};

// The steps that a sequence asks for.
int32_t hops_in(const Sequence& s, int nodes) {
  EXPECT_EQ(s.targets[static_cast<size_t>(nodes)], -1);
  return s.inputs[static_cast<size_t>(nodes)] - nodes - nodes * nodes + 1;
}

TEST_F(MultiHop, EveryAnswerFollowsFromThePairs) {
  SCOPED_TRACE(seed_);
  const Sequence s = read(options_, sequence_);
  const int n = options_.nodes;
  const auto f = function_in(s, n);
  const int32_t hops = hops_in(s, n);
  EXPECT_GE(hops, 1);
  EXPECT_LE(hops, options_.max_hops);
  std::set<int32_t> asked;
  for (size_t i = static_cast<size_t>(n) + 1; i < s.inputs.size(); i++) {
    int32_t node = s.inputs[i];
    ASSERT_TRUE(node >= 0 && node < n);
    asked.insert(node);
    for (int h = 0; h < hops; h++) node = f[static_cast<size_t>(node)];
    EXPECT_EQ(s.targets[i], node);
  }
  EXPECT_EQ(asked.size(), static_cast<size_t>(n));
}

TEST_F(MultiHop, TheFunctionIsOneCycleThroughAllNodes) {
  SCOPED_TRACE(seed_);
  const auto f = function_in(read(options_, sequence_), options_.nodes);
  std::set<int32_t> passed;
  int32_t node = 0;
  for (int i = 0; i < options_.nodes; i++) {
    passed.insert(node);
    node = f[static_cast<size_t>(node)];
  }
  EXPECT_EQ(node, 0);
  EXPECT_EQ(passed.size(), static_cast<size_t>(options_.nodes));
}

TEST_F(MultiHop, ASequenceIsTheSameWheneverItIsReadAndLikeNoOther) {
  SCOPED_TRACE(seed_);
  const Sequence s = read(options_, sequence_);
  EXPECT_EQ(s.inputs, read(options_, sequence_).inputs);
  EXPECT_NE(s.inputs, read(options_, sequence_ + 1).inputs);
  MultiHopOptions other = options_;
  other.seed++;
  EXPECT_NE(s.inputs, read(other, sequence_).inputs);
  other = options_;
  other.held_out = true;
  EXPECT_NE(s.inputs, read(other, sequence_).inputs);
}

TEST_F(MultiHop, SequencesOfOneKindOnlyAskForThatManyHops) {
  SCOPED_TRACE(seed_);
  options_.only_hops = options_.max_hops;
  EXPECT_EQ(hops_in(read(options_, sequence_), options_.nodes), options_.max_hops);
}

TEST_F(MultiHop, EveryTokenLiesInTheVocabularyAndEveryHopIsAskedFor) {
  SCOPED_TRACE(seed_);
  const int vocabulary = MultiHopTask(options_).vocab_size();
  std::set<int32_t> hops;
  for (int64_t i = 0; i < 2000; i++) {
    const Sequence s = read(options_, i);
    for (const int32_t token : s.inputs) ASSERT_TRUE(token >= 0 && token < vocabulary);
    hops.insert(hops_in(s, options_.nodes));
  }
  EXPECT_EQ(hops.size(), static_cast<size_t>(options_.max_hops));
}

// Numbers of one machine must be those of every other: a run may go on elsewhere.
TEST(MultiHopTask, AKnownSequenceStaysAsItIs) {
  MultiHopOptions options;
  options.nodes = 4;
  options.max_hops = 2;
  options.seed = 1;
  const Sequence s = read(options, 0);
  EXPECT_EQ(s.inputs, (std::vector<int32_t>{8, 7, 13, 18, 20, 3, 0, 1, 2}));
  EXPECT_EQ(s.targets, (std::vector<int32_t>{-1, -1, -1, -1, -1, 2, 3, 0, 1}));
}

TEST(MultiHopTask, RefusesSizesThatMakeNoTask) {
  const auto fault = [](int nodes, int max_hops) {
    MultiHopOptions options;
    options.nodes = nodes;
    options.max_hops = max_hops;
    return error_of([&] { MultiHopTask task(options); });
  };
  EXPECT_EQ(fault(1, 1), "hops.nodes must be from 2 to 256, found 1");
  EXPECT_EQ(fault(4, 4), "hops.max_hops must be from 1 to 3 (hops.nodes - 1), found 4");
}

}  // namespace
}  // namespace onceover
