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
  const auto length = static_cast<size_t>(task.length());
  Sequence s{std::vector<int32_t>(length), std::vector<int32_t>(length)};
  task.read(sequence, s.inputs, s.targets);
  return s;
}

// f, as the pairs of the text tell it.
std::vector<int32_t> pointers_in(const Sequence& s) {
  const size_t n = s.inputs.size() / 2;
  std::vector<int32_t> f(n, -1);
  for (size_t i = 0; i < n; i++) {
    const auto pair = static_cast<size_t>(s.inputs[i]) - n;
    EXPECT_LT(pair, n * n);
    EXPECT_EQ(s.targets[i], -1);
    f[pair / n] = static_cast<int32_t>(pair % n);
  }
  return f;
}

struct Walk {
  int32_t end;
  int hops;
};

Walk follow(const std::vector<int32_t>& f, int32_t node) {
  int hops = 0;
  for (; f[static_cast<size_t>(node)] != node && hops < 100; hops++) node = f[static_cast<size_t>(node)];
  return {node, hops};
}

class MultiHop : public ::testing::Test {
 protected:
  MultiHop() {
    std::mt19937 random(seed_);
    options_.chains = 2 + static_cast<int>(random() % 6);
    options_.max_hops = 1 + static_cast<int>(random() % 6);
    options_.seed = random();
    sequence_ = static_cast<int64_t>(random() % 1000000);
  }
  uint32_t seed_ = std::random_device{}();
  ::testing::ScopedTrace trace_{__FILE__, __LINE__, "seed " + std::to_string(seed_)};
  MultiHopOptions options_;
  int64_t sequence_;
};

TEST_F(MultiHop, EveryAnswerFollowsFromThePairs) {
  const Sequence s = read(options_, sequence_);
  const auto f = pointers_in(s);
  std::set<int32_t> asked;
  for (size_t i = f.size(); i < s.inputs.size(); i++) {
    const Walk walk = follow(f, s.inputs[i]);
    asked.insert(s.inputs[i]);
    EXPECT_EQ(s.targets[i], walk.hops == 0 ? -1 : walk.end);
  }
  EXPECT_EQ(asked.size(), f.size());
}

TEST_F(MultiHop, EveryChainHoldsEveryNumberOfHops) {
  const auto f = pointers_in(read(options_, sequence_));
  std::multiset<int> hops;
  for (size_t node = 0; node < f.size(); node++) hops.insert(follow(f, static_cast<int32_t>(node)).hops);
  for (int h = 0; h <= options_.max_hops; h++)
    EXPECT_EQ(hops.count(h), static_cast<size_t>(options_.chains)) << h;
}

TEST_F(MultiHop, ASequenceIsTheSameWheneverItIsReadAndLikeNoOther) {
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

TEST_F(MultiHop, OneKindScoresOnlyStartsThatFarFromTheEnd) {
  const Sequence all = read(options_, sequence_);
  const auto f = pointers_in(all);
  for (options_.only_hops = 1; options_.only_hops <= options_.max_hops; options_.only_hops++) {
    const Sequence s = read(options_, sequence_);
    EXPECT_EQ(s.inputs, all.inputs);
    for (size_t i = f.size(); i < s.inputs.size(); i++) {
      const bool scored = follow(f, s.inputs[i]).hops == options_.only_hops;
      EXPECT_EQ(s.targets[i], scored ? all.targets[i] : -1);
    }
  }
}

TEST_F(MultiHop, EveryTokenLiesInTheVocabulary) {
  const int vocabulary = MultiHopTask(options_).vocab_size();
  for (int64_t i = 0; i < 64; i++) {
    for (const int32_t token : read(options_, i).inputs) ASSERT_TRUE(token >= 0 && token < vocabulary);
  }
}

// Numbers of one machine must be those of every other: a run may go on elsewhere.
TEST(MultiHopTask, AKnownSequenceStaysAsItIs) {
  MultiHopOptions options;
  options.chains = 2;
  options.max_hops = 1;
  const Sequence s = read(options, 0);
  EXPECT_EQ(s.inputs, (std::vector<int32_t>{10, 4, 14, 16, 1, 3, 0, 2}));
  EXPECT_EQ(s.targets, (std::vector<int32_t>{-1, -1, -1, -1, 2, 0, -1, -1}));
}

TEST(MultiHopTask, RefusesSizesThatMakeNoTask) {
  const auto fault = [](int chains, int max_hops) {
    MultiHopOptions options;
    options.chains = chains;
    options.max_hops = max_hops;
    return error_of([&] { MultiHopTask task(options); });
  };
  EXPECT_EQ(fault(1, 1), "hops.chains must be from 2 to 64, found 1");
  EXPECT_EQ(fault(4, 0), "hops.max_hops must be from 1 to 63, found 0");
}

}  // namespace
}  // namespace onceover
