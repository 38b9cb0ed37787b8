#include "cpu/kernels/adamw.h"

#include "cpu/support.h"

namespace onceover::kernels {
namespace {

TEST(Adamw, EqualsItsEquationsOverSeveralSteps) {
  for_each_table([] {
    const int64_t n = 40001;
    AdamwSettings s{.learning_rate = 0.01F, .weight_decay = 0.1F, .gradient_scale = 0.5F};
    Matrix w(1, n, 1, 0), m(1, n, 0, 0), v(1, n, 0, 0);
    Doubles weight = w.dense(), first(weight.size()), second(weight.size());
    for (s.step = 1; s.step <= 5; ++s.step) {
      const Matrix g(1, n, s.step == 3 ? 0 : 1, 0);
      adamw(s, g.data, w.data, m.data, v.data);
      const double t = static_cast<double>(s.step);
      for (size_t i = 0; i < weight.size(); ++i) {
        const double gradient = 0.5 * static_cast<double>(g.data[i]);
        first[i] = 0.9 * first[i] + 0.1 * gradient;
        second[i] = 0.95 * second[i] + 0.05 * gradient * gradient;
        const double update =
            first[i] / (1 - std::pow(0.9, t)) / (std::sqrt(second[i] / (1 - std::pow(0.95, t))) + 1e-8);
        weight[i] -= 0.01 * (update + 0.1 * weight[i]);
      }
    }
    EXPECT_CLOSE(w.dense(), weight, 1e-6);
    EXPECT_CLOSE(m.dense(), first, 1e-6);
    EXPECT_CLOSE(v.dense(), second, 1e-6);
  });
}

TEST(SumOfSquares, IsExactToSinglePrecisionAndTheSameForAnyThreadCount) {
  const Matrix x(1, 300001, 1, 0);
  double expected = 0;
  for (const float value : x.data) expected += static_cast<double>(value) * static_cast<double>(value);
  for_each_table([&] { EXPECT_NEAR(sum_of_squares(x.data), expected, 1e-6 * expected); });
  omp_set_num_threads(1);
  const double alone = sum_of_squares(x.data);
  omp_set_num_threads(2);
  EXPECT_EQ(sum_of_squares(x.data), alone);
  EXPECT_EQ(sum_of_squares({}), 0);
}

}  // namespace
}  // namespace onceover::kernels
