#include "cpu/kernels/experts.h"

#include <algorithm>
#include <numeric>

#include "cpu/support.h"

namespace onceover::kernels {
namespace {

size_t at(int64_t index) { return static_cast<size_t>(index); }

double silu(double x) { return x / (1 + std::exp(-x)); }

// y of every row, then the balance loss as one more element. Inputs {x, router, gate, up, down}; the choice
// is made anew.
Doubles plain_experts(const ExpertsShape& s, const std::vector<Doubles>& in) {
  const size_t width = at(s.width), experts = at(s.experts), ffn = at(s.ffn);
  Doubles y(at(s.rows) * width + 1), share(experts), mean(experts);
  double real = 0;
  for (size_t row = 0; row < at(s.rows); ++row) {
    if (s.real && !s.real[row]) continue;
    const double* x = &in[0][row * width];
    Doubles p(experts);
    for (size_t e = 0; e < experts; ++e)
      p[e] = std::exp(std::inner_product(x, x + width, &in[1][e * width], 0.0));
    const double all = std::accumulate(p.begin(), p.end(), 0.0);
    for (double& value : p) value /= all;
    std::vector<size_t> order(experts);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return p[a] > p[b]; });
    order.resize(at(s.active));
    double chosen = 0;
    for (const size_t e : order) chosen += p[e];
    for (const size_t e : order) {
      Doubles hidden(ffn);
      for (size_t j = 0; j < ffn; ++j) {
        const size_t w = (e * ffn + j) * width;
        hidden[j] = silu(std::inner_product(x, x + width, &in[2][w], 0.0)) *
                    std::inner_product(x, x + width, &in[3][w], 0.0);
      }
      for (size_t c = 0; c < width; ++c) {
        const double* down = &in[4][(e * width + c) * ffn];
        y[row * width + c] +=
            p[e] / (s.normalise ? chosen : 1) * std::inner_product(down, down + ffn, hidden.begin(), 0.0);
      }
      share[e] += 1;
    }
    for (size_t e = 0; e < experts; ++e) mean[e] += p[e];
    real += 1;
  }
  for (size_t e = 0; e < experts && real > 0; ++e) {
    y.back() += static_cast<double>(s.balance) * static_cast<double>(experts) * share[e] /
                (real * static_cast<double>(s.active)) * mean[e] / real;
  }
  return y;
}

struct Problem {
  ExpertsShape s;
  Matrix x, y, router, gate, up, down;
  ExpertsTape tape;

  explicit Problem(const ExpertsShape& shape)
      : s(shape),
        x(s.rows, s.width),
        y(s.rows, s.width),
        router(s.experts, s.width, 0.5, 0),
        gate(s.experts * s.ffn, s.width, 0.5, 0),
        up(s.experts * s.ffn, s.width, 0.5, 0),
        down(s.experts * s.width, s.ffn, 0.5, 0) {}
  ExpertsWeights weights() const {
    return {router.data.data(), gate.data.data(), up.data.data(), down.data.data()};
  }
  std::vector<Doubles> inputs() const {
    return {x.dense(), router.dense(), gate.dense(), up.dense(), down.dense()};
  }
  void forward() { experts_forward(s, weights(), x.view(), y.view(), tape); }
  Doubles output() const {
    Doubles all = y.dense();
    all.push_back(tape.balance_loss);
    return all;
  }
};

void check(const ExpertsShape& shape) {
  SCOPED_TRACE(testing::Message() << "rows " << shape.rows << " active " << shape.active << " normalise "
                                  << shape.normalise);
  Problem p(shape);
  p.forward();
  EXPECT_CLOSE(p.output(), plain_experts(p.s, p.inputs()), 1e-5);
  const Matrix dy(shape.rows, shape.width);
  Matrix dx = p.x, router = p.router, gate = p.gate, up = p.up, down = p.down;
  experts_backward(p.s, p.weights(), p.x.view(), dy.view(), p.tape, 0.5F, dx.view(),
                   {router.data.data(), gate.data.data(), up.data.data(), down.data.data()});
  Doubles dall = dy.dense();
  dall.push_back(0.5);
  // The share of choices is a constant of the balance loss, and so it is under a step too small to change a
  // choice.
  const Forward forward = [&](const std::vector<Doubles>& in) { return plain_experts(p.s, in); };
  const std::vector<Doubles> in = p.inputs(),
                             after{dx.dense(), router.dense(), gate.dense(), up.dense(), down.dense()};
  for (size_t which = 0; which < 5; ++which) {
    expect_gradient(forward, in, which, dall, minus(after[which], in[which]), 5e-5, 12);
  }
}

TEST(Experts, AndTheirGradientsEqualTheDefinition) {
  for_each_table([] {
    for (const int64_t rows : {1, 3, 65}) {
      for (const bool normalise : {true, false}) {
        check({.rows = rows,
               .width = 12,
               .experts = 5,
               .active = 2,
               .ffn = 20,
               .normalise = normalise,
               .balance = 0.7F});
      }
    }
    check({.rows = 17, .width = 12, .experts = 3, .active = 1, .ffn = 9, .normalise = false});
    check({.rows = 17, .width = 12, .experts = 3, .active = 3, .ffn = 9, .balance = 0.1F});
  });
}

TEST(Experts, PaddingCountsForNothing) {
  for_each_table([] {
    std::vector<uint8_t> real(40, 1);
    for (size_t row = 0; row < 40; row += 3) real[row] = 0;
    check(
        {.rows = 40, .width = 12, .experts = 4, .active = 2, .ffn = 8, .balance = 0.5F, .real = real.data()});
    const std::vector<uint8_t> none(5, 0);
    Problem p(
        {.rows = 5, .width = 12, .experts = 4, .active = 2, .ffn = 8, .balance = 1, .real = none.data()});
    p.forward();
    EXPECT_EQ(p.tape.balance_loss, 0);
    EXPECT_EQ(p.y.at(3, 3), 0);
  });
}

TEST(Experts, TiesGoToTheLowerNumberAndAUniformRouterCostsTheCoefficient) {
  for_each_table([] {
    Problem p({.rows = 6, .width = 8, .experts = 4, .active = 2, .ffn = 4, .balance = 0.25F});
    for (float& w : p.router.data) w = 0;
    p.forward();
    for (size_t row = 0; row < 6; ++row) {
      EXPECT_EQ(p.tape.chosen[row * 2], 0);
      EXPECT_EQ(p.tape.chosen[row * 2 + 1], 1);
    }
    EXPECT_NEAR(p.tape.balance_loss, 0.25, 1e-6);
  });
}

TEST(Experts, OneExpertForAllCostsTheMostBalanceLoss) {
  for_each_table([] {
    Problem p({.rows = 6, .width = 8, .experts = 4, .active = 1, .ffn = 4, .balance = 0.25F});
    for (int64_t row = 0; row < 6; ++row) p.x.at(row, 0) = 100;
    for (float& w : p.router.data) w = 0;
    p.router.at(2, 0) = 1;
    p.forward();
    EXPECT_NEAR(p.tape.balance_loss, 0.25 * 4, 1e-6);
  });
}

TEST(Experts, RepeatBitForBitAtTheSameThreadCount) {
  Problem p({.rows = 200, .width = 64, .experts = 8, .active = 2, .ffn = 48, .balance = 0.1F});
  Problem other = p;
  p.forward();
  other.forward();
  EXPECT_EQ(p.y.dense(), other.y.dense());
  const Matrix dy(200, 64);
  std::vector<Doubles> dx;
  for (int run = 0; run < 2; ++run) {
    Matrix d(200, 64, 0), router(8, 64, 0, 0), gate(8 * 48, 64, 0, 0), up = gate, down(8 * 64, 48, 0, 0);
    experts_backward(p.s, p.weights(), p.x.view(), dy.view(), p.tape, 1, d.view(),
                     {router.data.data(), gate.data.data(), up.data.data(), down.data.data()});
    dx.push_back(d.dense());
    dx.push_back(router.dense());
  }
  EXPECT_EQ(dx[0], dx[2]);
  EXPECT_EQ(dx[1], dx[3]);
}

}  // namespace
}  // namespace onceover::kernels
