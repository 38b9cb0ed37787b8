#include "data/swap_task.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

#include "support/errors.h"

namespace onceover {
namespace {

struct Sequence {
  std::vector<int32_t> inputs, targets;
};

Sequence read(const SwapOptions& options, int64_t sequence, size_t length) {
  Sequence s{std::vector<int32_t>(length), std::vector<int32_t>(length)};
  SwapTask(options).read(sequence, s.inputs, s.targets);
  return s;
}

struct Swap {
  int low, high;
};

// Of every swap token, in the order of the tokens.
std::vector<Swap> swaps_of(int places) {
  std::vector<Swap> swaps;
  for (int high = 1; high < places; high++) {
    for (int low = 0; low < high; low++) swaps.push_back({low, high});
  }
  return swaps;
}

class Swaps : public ::testing::Test {
 protected:
  Swaps() {
    std::mt19937 random(seed_);
    options_.places = 2 + static_cast<int>(random() % 63);
    options_.seed = random();
    sequence_ = static_cast<int64_t>(random() % 1000000);
    length_ = 1 + random() % 300;
  }
  uint32_t seed_ = std::random_device{}();
  ::testing::ScopedTrace trace_{__FILE__, __LINE__, "seed " + std::to_string(seed_)};
  SwapOptions options_;
  int64_t sequence_;
  size_t length_;
};

TEST_F(Swaps, EveryAnswerFollowsFromTheSwapsBefore) {
  const Sequence s = read(options_, sequence_, length_);
  const auto swaps = swaps_of(options_.places);
  std::vector<int> thing_at(static_cast<size_t>(options_.places));
  std::iota(thing_at.begin(), thing_at.end(), 0);
  for (size_t i = 0; i < length_; i++) {
    ASSERT_GE(s.inputs[i], options_.places);
    ASSERT_LT(s.inputs[i], SwapTask(options_).vocab_size());
    const Swap swap = swaps[static_cast<size_t>(s.inputs[i] - options_.places)];
    std::swap(thing_at[static_cast<size_t>(swap.low)], thing_at[static_cast<size_t>(swap.high)]);
    EXPECT_EQ(thing_at[static_cast<size_t>(s.targets[i])], 0) << i;
  }
}

TEST_F(Swaps, ASequenceIsTheSameWheneverItIsReadAndLikeNoOther) {
  length_ = 64;
  options_.places = 5;
  const Sequence s = read(options_, sequence_, length_);
  EXPECT_EQ(s.inputs, read(options_, sequence_, length_).inputs);
  EXPECT_NE(s.inputs, read(options_, sequence_ + 1, length_).inputs);
  SwapOptions other = options_;
  other.seed++;
  EXPECT_NE(s.inputs, read(other, sequence_, length_).inputs);
  other = options_;
  other.held_out = true;
  EXPECT_NE(s.inputs, read(other, sequence_, length_).inputs);
}

TEST_F(Swaps, OnlyAnswersOfTheRangeAreScored) {
  const Sequence all = read(options_, sequence_, length_);
  options_.first_scored = 5;
  options_.last_scored = 8;
  const Sequence some = read(options_, sequence_, length_);
  EXPECT_EQ(some.inputs, all.inputs);
  for (size_t i = 0; i < length_; i++) EXPECT_EQ(some.targets[i], i >= 4 && i < 8 ? all.targets[i] : -1);
}

TEST(SwapTask, EverySwapIsAsLikelyAsAnother) {
  SwapOptions options;
  options.places = 4;
  const int kinds = 6, rounds = 10000;
  std::vector<int> count(kinds);
  for (const int32_t token : read(options, 0, kinds * rounds).inputs) count[static_cast<size_t>(token - 4)]++;
  for (const int c : count) EXPECT_NEAR(c, rounds, 500);  // five standard deviations
}

// Numbers of one machine must be those of every other: a run may go on elsewhere.
TEST(SwapTask, AKnownSequenceStaysAsItIs) {
  SwapOptions options;
  options.places = 3;
  const Sequence s = read(options, 0, 8);
  EXPECT_EQ(s.inputs, (std::vector<int32_t>{5, 4, 4, 3, 3, 3, 3, 3}));
  EXPECT_EQ(s.targets, (std::vector<int32_t>{0, 2, 0, 1, 0, 1, 0, 1}));
}

TEST(SwapTask, RefusesPlacesThatMakeNoTask) {
  SwapOptions options;
  for (options.places = 1; options.places <= 65; options.places += 64) {
    EXPECT_EQ(error_of([&] { SwapTask task(options); }),
              fmt::format("swaps.places must be from 2 to 64, found {}", options.places));
  }
}

}  // namespace
}  // namespace onceover
