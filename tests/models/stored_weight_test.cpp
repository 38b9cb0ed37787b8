#include "models/stored_weight.h"

#include <gtest/gtest.h>

namespace onceover {
namespace {

TEST(StoredWeight, IsCutInParts) {
  const std::vector<float> numbers = {0, 1, 2, 3, 4, 5, 6, 7};
  const StoredWeight second{view_of(numbers, {4, 2}), Cut{.part = 1, .parts = 2}};
  EXPECT_EQ(second.shape(), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(second.numbers(), (std::vector<float>{4, 5, 6, 7}));
}

TEST(StoredWeight, OfNoRowsHasNoNumbersHoweverItIsCut) {
  const std::vector<float> none;
  for (const Cut& cut : {Cut{.parts = 2}, Cut{.pairs_of = 4}, Cut{.transposed = true, .parts = 3}})
    EXPECT_TRUE((StoredWeight{view_of(none, {0, 0}), cut}.numbers().empty()));
  EXPECT_TRUE((StoredWeight{view_of(none, {0, 6}), Cut{.parts = 3}}.numbers().empty()));
}

}  // namespace
}  // namespace onceover
