#include "cpu/kernels/leaves.h"

#include "cpu/support.h"

namespace onceover::kernels {
namespace {

TEST(Leaves, ExponentialIsExactToAFewUnits) {
  for_each_table([] {
    for (double x = -87; x < 88; x += 0.0137) {
      float y = static_cast<float>(x);
      const double expected = std::exp(static_cast<double>(y));
      leaves().exp_shifted(1, 0, 1, &y);
      ASSERT_NEAR(static_cast<double>(y) / expected, 1, 3e-7) << "at " << x;
    }
    float far[3] = {-1000, -INFINITY, 0};
    leaves().exp_shifted(3, 0, 1, far);
    EXPECT_EQ(far[0], 0);
    EXPECT_EQ(far[1], 0);
    EXPECT_EQ(far[2], 1);
  });
}

TEST(Leaves, NotANumberIsNotHidden) {
  for_each_table([] {
    float x[8] = {1, NAN, 1, 1, 1, 1, 1, 1};
    EXPECT_TRUE(std::isnan(leaves().log_sum_exp(8, x)));
    leaves().exp_shifted(8, 0, 1, x);
    EXPECT_TRUE(std::isnan(x[1]));
  });
}

TEST(Leaves, LogSumExpCoversEveryTail) {
  for_each_table([] {
    for (const int64_t n : {1, 7, 8, 9, 511, 513, 1025, 5000}) {
      const Matrix x(1, n, 3, 0);
      double total = 0;
      for (const float value : x.data) total += std::exp(static_cast<double>(value));
      EXPECT_NEAR(leaves().log_sum_exp(n, x.data.data()), std::log(total), 1e-6);
    }
  });
}

}  // namespace
}  // namespace onceover::kernels
