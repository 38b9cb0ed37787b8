#include "cpu/kernels/linear.h"

#include "cpu/kernels/cross_entropy.h"
#include "cpu/support.h"

namespace onceover::kernels {
namespace {

// a[m, k] b[n, k]ᵀ
Doubles product(const Doubles& a, const Doubles& b, size_t k) {
  const size_t m = a.size() / k, n = b.size() / k;
  Doubles y(m * n);
  for (size_t i = 0; i < m; ++i) {
    for (size_t j = 0; j < n; ++j) {
      for (size_t l = 0; l < k; ++l) y[i * n + j] += a[i * k + l] * b[j * k + l];
    }
  }
  return y;
}

Doubles transposed(const Doubles& a, size_t columns) {
  const size_t rows = a.size() / columns;
  Doubles y(a.size());
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < columns; ++j) y[j * rows + i] = a[i * columns + j];
  }
  return y;
}

TEST(Linear, AndItsGradientsEqualTheDefinition) {
  for_each_table([] {
    for (const int64_t rows : {1, 2, 3, 5, 8, 9, 17, 65}) {
      for (const int64_t inputs : {1, 7, 48, 83}) {
        const int64_t outputs = 101;
        SCOPED_TRACE(testing::Message() << "rows " << rows << " inputs " << inputs);
        const LinearShape s{rows, inputs, outputs};
        Matrix x(rows, inputs), w(outputs, inputs), y(rows, outputs), dx(rows, inputs), dw(outputs, inputs);
        const Doubles dx_before = dx.dense(), dw_before = dw.dense();
        linear_forward(s, x.view(), w.view(), y.view());
        EXPECT_CLOSE(y.dense(), product(x.dense(), w.dense(), static_cast<size_t>(inputs)), 1e-5);
        const Matrix dy(rows, outputs);
        linear_backward_input(s, dy.view(), w.view(), dx.view());
        linear_backward_weight(s, dy.view(), x.view(), dw.view());
        const size_t in = static_cast<size_t>(inputs), out = static_cast<size_t>(outputs);
        const Doubles dx_expected = product(dy.dense(), transposed(w.dense(), in), out);
        EXPECT_LE(relative_error(minus(dx.dense(), dx_before), dx_expected, std::sqrt(outputs)), 1e-5);
        EXPECT_CLOSE(
            minus(dw.dense(), dw_before),
            product(transposed(dy.dense(), out), transposed(x.dense(), in), static_cast<size_t>(rows)), 1e-5);
      }
    }
  });
}

TEST(Linear, RepeatsBitForBitAtTheSameThreadCount) {
  const LinearShape s{300, 384, 500};
  const Matrix x(300, 384), dy(300, 500);
  omp_set_num_threads(2);
  Matrix first(500, 384, 0), second(500, 384, 0);
  linear_backward_weight(s, dy.view(), x.view(), first.view());
  linear_backward_weight(s, dy.view(), x.view(), second.view());
  EXPECT_EQ(first.dense(), second.dense());
}

struct Loss {
  std::vector<int32_t> targets;

  // The summed loss as the only output; inputs {x, weight}.
  Doubles operator()(const std::vector<Doubles>& in, size_t width) const {
    const Doubles logits = product(in[0], in[1], width);
    const size_t vocabulary = in[1].size() / width;
    double loss = 0;
    for (size_t row = 0; row < targets.size(); ++row) {
      if (targets[row] < 0) continue;
      double total = 0;
      for (size_t j = 0; j < vocabulary; ++j) total += std::exp(logits[row * vocabulary + j]);
      loss += std::log(total) - logits[row * vocabulary + static_cast<size_t>(targets[row])];
    }
    return {loss};
  }

  // Rows whose largest logit is their target's.
  int64_t correct(const std::vector<Doubles>& in, size_t width) const {
    const Doubles logits = product(in[0], in[1], width);
    const auto vocabulary = static_cast<std::ptrdiff_t>(in[1].size() / width);
    int64_t found = 0;
    for (size_t row = 0; row < targets.size(); ++row) {
      const auto first = logits.begin() + static_cast<std::ptrdiff_t>(row) * vocabulary;
      found += std::max_element(first, first + vocabulary) - first == targets[row];
    }
    return found;
  }
};

void check_cross_entropy(int64_t rows, int64_t width, int64_t vocabulary) {
  SCOPED_TRACE(testing::Message() << "rows " << rows << " width " << width << " vocabulary " << vocabulary);
  const CrossEntropyShape s{rows, width, vocabulary};
  Loss loss;
  int64_t wanted = 0;
  for (int64_t row = 0; row < rows; ++row) {
    const bool masked = random_engine()() % 4 == 0;
    loss.targets.push_back(
        masked ? -1 : static_cast<int32_t>(random_engine()() % static_cast<size_t>(vocabulary)));
    wanted += masked ? 0 : 1;
  }
  Matrix x(rows, width), w(vocabulary, width, 0.5), dx(rows, width), dw(vocabulary, width);
  const Doubles dx_before = dx.dense(), dw_before = dw.dense();
  std::vector<float> token_loss(static_cast<size_t>(rows));
  const float factor = 0.25F;
  const TargetLoss sum = cross_entropy_gradient(s, x.view(), w.view(), loss.targets.data(), factor, dx.view(),
                                                dw.view(), token_loss.data());
  const Forward forward = [&](const std::vector<Doubles>& in) {
    return loss(in, static_cast<size_t>(width));
  };
  const std::vector<Doubles> in{x.dense(), w.dense()};
  const double expected = forward(in)[0];
  EXPECT_NEAR(sum.loss, expected, 1e-5 * (1 + expected));
  EXPECT_EQ(sum.targets, wanted);
  double total = 0;
  for (size_t row = 0; row < token_loss.size(); ++row) {
    total += static_cast<double>(token_loss[row]);
    if (loss.targets[row] < 0) {
      EXPECT_EQ(token_loss[row], 0);
    }
  }
  EXPECT_NEAR(total, expected, 1e-5 * (1 + expected));
  const TargetLoss alone = cross_entropy(s, x.view(), w.view(), loss.targets.data(), nullptr);
  EXPECT_EQ(alone.loss, sum.loss);
  EXPECT_EQ(alone.correct, loss.correct({x.dense(), w.dense()}, static_cast<size_t>(width)));
  if (wanted == 0) return;
  expect_gradient(forward, in, 0, {0.25}, minus(dx.dense(), dx_before), 2e-5, 10);
  expect_gradient(forward, in, 1, {0.25}, minus(dw.dense(), dw_before), 2e-5, 10);
}

TEST(CrossEntropy, AndItsGradientsEqualTheDefinition) {
  for_each_table([] {
    for (const int64_t rows : {1, 3, 17, 65}) check_cross_entropy(rows, 24, 77);
    check_cross_entropy(530, 8, 13);  // more rows than a chunk
  });
}

TEST(CrossEntropy, AFixedFactorMakesTheStepIndependentOfItsSplit) {
  const CrossEntropyShape whole{112, 16, 50}, head{11, 16, 50}, tail{101, 16, 50};
  const Matrix x(112, 16), w(50, 16);
  std::vector<int32_t> targets;
  for (int32_t row = 0; row < 112; ++row) targets.push_back(row % 50);
  Matrix dx(112, 16, 0), dw(50, 16, 0), dx_split(112, 16, 0), dw_split(50, 16, 0);
  const float factor = 1.0F / 112;
  const TargetLoss all = cross_entropy_gradient(whole, x.view(), w.view(), targets.data(), factor, dx.view(),
                                                dw.view(), nullptr);
  TargetLoss parts = cross_entropy_gradient(head, x.view(), w.view(), targets.data(), factor, dx_split.view(),
                                            dw_split.view(), nullptr);
  parts.loss += cross_entropy_gradient(tail, {x.view()[11], x.stride}, w.view(), targets.data() + 11, factor,
                                       {dx_split.view()[11], dx_split.stride}, dw_split.view(), nullptr)
                    .loss;
  EXPECT_NEAR(parts.loss, all.loss, 1e-6 * all.loss);
  EXPECT_LE(relative_error(dx_split.dense(), dx.dense()), 1e-6);
  EXPECT_LE(relative_error(dw_split.dense(), dw.dense()), 1e-6);
}

TEST(CrossEntropy, UniformLogitsCostTheLogarithmOfTheVocabulary) {
  for_each_table([] {
    const Matrix x(5, 8), w(4099, 8, 0);
    const std::vector<int32_t> targets{0, 1, 4098, 7, 9};
    EXPECT_NEAR(cross_entropy({5, 8, 4099}, x.view(), w.view(), targets.data(), nullptr).loss,
                5 * std::log(4099.0), 1e-5);
  });
}

TEST(CrossEntropy, ALogitThatIsOnlyAmongTheLargestIsNotCorrect) {
  Matrix x(1, 2, 0), w(3, 2, 0);
  x.at(0, 0) = 1;
  w.at(1, 0) = 5;
  for (const int32_t target : {0, 1, 2})
    EXPECT_EQ(cross_entropy({1, 2, 3}, x.view(), w.view(), &target, nullptr).correct, target == 1);
  w.at(2, 0) = 5;
  const int32_t target = 1;
  EXPECT_EQ(cross_entropy({1, 2, 3}, x.view(), w.view(), &target, nullptr).correct, 0);
}

TEST(CrossEntropy, LargeLogitsStayFinite) {
  for_each_table([] {
    Matrix x(1, 4, 0), w(3, 4, 0), dx(1, 4, 0), dw(3, 4, 0);
    x.at(0, 0) = 1000;
    w.at(0, 0) = 10;
    w.at(1, 0) = -10;
    const int32_t target = 1;
    const TargetLoss sum =
        cross_entropy_gradient({1, 4, 3}, x.view(), w.view(), &target, 1, dx.view(), dw.view(), nullptr);
    EXPECT_NEAR(sum.loss, 20000, 1e-2);
    EXPECT_NEAR(dx.at(0, 0), 20, 1e-4);
  });
}

}  // namespace
}  // namespace onceover::kernels
