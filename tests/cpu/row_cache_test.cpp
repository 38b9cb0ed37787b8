#include "cpu/row_cache.h"

#include <gtest/gtest.h>

#include "support/random.h"

namespace onceover::cpu {
namespace {

class RowCacheOfWindow : public testing::TestWithParam<int> {};

// Long enough to outgrow the first storage and to slide through it many times. Row n holds n.
TEST_P(RowCacheOfWindow, ShowsTheRowsThatTheLastAppendedCanSee) {
  test::FreshRandom random;
  const int window = GetParam();
  constexpr int64_t width = 3;
  RowCache cache(width, window);
  int64_t appended = 0;
  for (int call = 0; call < 300; call++) {
    const int64_t count = random.between(1, call % 10 == 0 ? 200 : 4);
    const kernels::Output fresh = cache.append(count);
    ASSERT_EQ(fresh.stride, width);
    for (int64_t i = 0; i < count * width; i++) fresh.data[i] = static_cast<float>(appended + i / width);
    appended += count;
    const int64_t needed = window == 0 ? appended : std::min<int64_t>(appended, window - 1 + count);
    ASSERT_EQ(cache.rows(), needed) << "call " << call;
    for (int64_t i = 0; i < needed * width; i++) {
      ASSERT_EQ(cache.view().data[i], static_cast<float>(appended - needed + i / width))
          << "call " << call << ", element " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Windows, RowCacheOfWindow, testing::Values(0, 1, 2, 7, 100));

}  // namespace
}  // namespace onceover::cpu
