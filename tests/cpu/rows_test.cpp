// Kernels that work row by row: norms, rotation, elementwise, embedding.
#include "cpu/kernels/elementwise.h"
#include "cpu/kernels/embedding.h"
#include "cpu/kernels/norm.h"
#include "cpu/kernels/rope.h"
#include "cpu/support.h"

namespace onceover::kernels {
namespace {

constexpr int64_t odd_rows[] = {1, 3, 17, 65, 200};

Doubles plain_norm(const NormShape& s, const Doubles& x, const Doubles& weight) {
  Doubles y(x.size());
  const size_t n = static_cast<size_t>(s.width / s.groups), weights = weight.empty() ? 1 : weight.size();
  for (size_t first = 0; first < x.size(); first += n) {
    double mean = 0, squares = 0;
    for (size_t j = first; j < first + n && s.centred; ++j) mean += x[j] / static_cast<double>(n);
    for (size_t j = first; j < first + n; ++j) squares += (x[j] - mean) * (x[j] - mean);
    const double scale = 1 / std::sqrt(squares / static_cast<double>(n) + static_cast<double>(s.eps));
    for (size_t j = first; j < first + n; ++j)
      y[j] = (x[j] - mean) * scale * (weight.empty() ? 1 : weight[j % weights]);
  }
  return y;
}

void check_norm(const NormShape& s, bool weighted) {
  SCOPED_TRACE(testing::Message() << "rows " << s.rows << " width " << s.width << " groups " << s.groups);
  Matrix x(s.rows, s.width), y(s.rows, s.width), dy(s.rows, s.width), dx(s.rows, s.width);
  Matrix weight(1, s.weights()), dweight(1, s.weights());
  const Doubles dx_before = dx.dense(), dweight_before = dweight.dense();
  const float* w = weighted ? weight.data.data() : nullptr;
  norm_forward(s, x.view(), w, y.view());
  EXPECT_CLOSE(y.dense(), plain_norm(s, x.dense(), weighted ? weight.dense() : Doubles{}), 1e-5);
  norm_backward(s, x.view(), w, dy.view(), dx.view(), weighted ? dweight.data.data() : nullptr);
  const Forward forward = [&](const std::vector<Doubles>& in) {
    return plain_norm(s, in[0], weighted ? in[1] : Doubles{});
  };
  const std::vector<Doubles> inputs{x.dense(), weight.dense()};
  expect_gradient(forward, inputs, 0, dy.dense(), minus(dx.dense(), dx_before), 1e-5, 8);
  if (weighted)
    expect_gradient(forward, inputs, 1, dy.dense(), minus(dweight.dense(), dweight_before), 1e-5, 8);
}

TEST(Norm, AndItsGradientEqualTheDefinition) {
  for_each_table([] {
    for (const int64_t rows : odd_rows) {
      check_norm({.rows = rows, .width = 48}, true);
      check_norm({.rows = rows, .width = 45, .groups = 5}, true);
      check_norm({.rows = rows, .width = 70}, false);
      check_norm({.rows = rows, .width = 1, .eps = 1e-3F}, true);
      check_norm({.rows = rows, .width = 45, .groups = 5, .shared = true}, true);
      check_norm({.rows = rows, .width = 48, .centred = true}, true);
      check_norm({.rows = rows, .width = 66, .groups = 3, .centred = true}, false);
    }
  });
}

TEST(Norm, RepeatsBitForBitWhateverTheThreads) {
  const NormShape s{.rows = 999, .width = 384};
  Matrix x(s.rows, s.width), dy(s.rows, s.width), weight(1, s.width);
  std::vector<Doubles> results;
  for (const int threads : {2, 2, 1}) {
    omp_set_num_threads(threads);
    Matrix dx(s.rows, s.width, 0), dweight(1, s.width, 0);
    norm_backward(s, x.view(), weight.data.data(), dy.view(), dx.view(), dweight.data.data());
    results.push_back(dx.dense());
    results.push_back(dweight.dense());
  }
  omp_set_num_threads(2);
  EXPECT_EQ(results[0], results[2]);
  EXPECT_EQ(results[1], results[3]);
  EXPECT_EQ(results[0], results[4]);
  EXPECT_EQ(results[1], results[5]);
}

TEST(Rope, TurnsPairsByPositionTimesFrequency) {
  for_each_table([] {
    for (const int64_t head_dim : {2, 6, 8, 64, 128}) {
      const int64_t heads = 3, rows = 34, positions = 17;
      const RopeTable table(head_dim, {}, 5, positions);
      Matrix x(rows, heads * head_dim), y(rows, heads * head_dim);
      rope_forward({rows, heads}, table, x.view(), y.view());
      Matrix expected = x;
      for (int64_t row = 0; row < rows; ++row) {
        for (int64_t h = 0; h < heads; ++h) {
          for (int64_t j = 0; j < head_dim / 2; ++j) {
            const double angle =
                static_cast<double>(5 + row % positions) *
                std::pow(10000.0, -2.0 * static_cast<double>(j) / static_cast<double>(head_dim));
            const int64_t c = h * head_dim + j;
            const double a = static_cast<double>(x.at(row, c)),
                         b = static_cast<double>(x.at(row, c + head_dim / 2));
            expected.at(row, c) = static_cast<float>(a * std::cos(angle) - b * std::sin(angle));
            expected.at(row, c + head_dim / 2) =
                static_cast<float>(b * std::cos(angle) + a * std::sin(angle));
          }
        }
      }
      EXPECT_CLOSE(y.dense(), expected.dense(), 1e-6);
      rope_inverse({rows, heads}, table, y.view());
      EXPECT_CLOSE(y.dense(), x.dense(), 1e-6);
    }
  });
}

TEST(Rope, DimsBehindTheTurnedOnesStay) {
  for_each_table([] {
    const RopeTable part(24, {.dims = 10}, 3, 7), whole(10, {}, 3, 7);
    Matrix x(7, 48), y(7, 48), dx(7, 48, 0);
    rope_forward({7, 2}, part, x.view(), y.view());
    rope_backward({7, 2}, part, y.view(), dx.view());
    EXPECT_CLOSE(dx.dense(), x.dense(), 1e-6);
    for (int64_t head = 0; head < 2; ++head) {
      Matrix turned(7, 10);
      rope_forward({7, 1}, whole, x.view().columns(head * 24), turned.view());
      for (int64_t row = 0; row < 7; ++row) {
        for (int64_t c = 0; c < 24; ++c) {
          const float expected = c < 10 ? turned.at(row, c) : x.at(row, head * 24 + c);
          EXPECT_EQ(y.at(row, head * 24 + c), expected);
        }
      }
    }
    rope_forward({7, 2}, part, x.view(), x.view());
    EXPECT_EQ(x.dense(), y.dense());
  });
}

TEST(Rope, TheGradientIsTheInverseTurnAdded) {
  for_each_table([] {
    const RopeTable table(16, {.dims = 12}, 0, 9);
    const std::vector<int32_t> index{8, 0, 3, 3, 7};
    const RopeShape s{5, 2, index.data()};
    Matrix dy(5, 32), dx(5, 32);
    const Doubles before = dx.dense();
    rope_backward(s, table, dy.view(), dx.view());
    rope_inverse(s, table, dy.view());
    EXPECT_CLOSE(minus(dx.dense(), before), dy.dense(), 1e-6);
  });
}

TEST(Rope, AnglesStayExactAtFarPositions) {
  const RopeTable far(64, {}, 999990, 11), near(2, {}, 15900, 100);
  EXPECT_NEAR(far.cos(10)[0], std::cos(1000000.0), 1e-7);
  EXPECT_NEAR(far.sin(10)[0], std::sin(1000000.0), 1e-7);
  EXPECT_NEAR(near.cos(62)[0], -0.9080, 1e-4);
  EXPECT_NEAR(near.cos(36)[0], -0.2680, 1e-4);
}

TEST(Swiglu, AndItsGradientEqualTheDefinition) {
  const Forward forward = [](const std::vector<Doubles>& in) {
    Doubles y(in[0].size());
    for (size_t i = 0; i < y.size(); ++i) y[i] = in[0][i] / (1 + std::exp(-in[0][i])) * in[1][i];
    return y;
  };
  for_each_table([&] {
    for (const int64_t rows : odd_rows) {
      const ElementShape s{rows, 43};
      Matrix gate(rows, 43, 4), up(rows, 43), y(rows, 43), dy(rows, 43), dgate(rows, 43), dup(rows, 43);
      const Doubles dgate_before = dgate.dense(), dup_before = dup.dense();
      swiglu_forward(s, gate.view(), up.view(), y.view());
      EXPECT_CLOSE(y.dense(), forward({gate.dense(), up.dense()}), 1e-6);
      swiglu_backward(s, gate.view(), up.view(), dy.view(), dgate.view(), dup.view());
      expect_gradient(forward, {gate.dense(), up.dense()}, 0, dy.dense(), minus(dgate.dense(), dgate_before),
                      1e-5);
      expect_gradient(forward, {gate.dense(), up.dense()}, 1, dy.dense(), minus(dup.dense(), dup_before),
                      1e-5);
    }
  });
}

TEST(Swiglu, StaysFiniteAtExtremeGates) {
  for_each_table([] {
    Matrix gate(1, 16, 0), up(1, 16, 0), y(1, 16), dgate(1, 16, 0), dup(1, 16, 0);
    for (int64_t c = 0; c < 16; ++c) {
      gate.at(0, c) = c % 2 ? 1e4F : -1e4F;
      up.at(0, c) = 1;
    }
    swiglu_forward({1, 16}, gate.view(), up.view(), y.view());
    swiglu_backward({1, 16}, gate.view(), up.view(), up.view(), dgate.view(), dup.view());
    for (int64_t c = 0; c < 16; ++c) {
      EXPECT_NEAR(y.at(0, c), c % 2 ? 1e4F : 0.0F, 1e-30);
      EXPECT_NEAR(dgate.at(0, c), c % 2 ? 1.0F : 0.0F, 1e-30);
    }
  });
}

TEST(Gelu, AndItsGradientEqualTheDefinition) {
  for (const bool tanh_form : {false, true}) {
    const Forward forward = [&](const std::vector<Doubles>& in) {
      Doubles y = in[0];
      for (double& x : y) {
        const double inner = tanh_form ? std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))
                                       : std::erf(x * 0.7071067811865476);
        x *= 0.5 * (1 + inner);
      }
      return y;
    };
    for_each_table([&] {
      const ElementShape s{65, 43};
      Matrix x(65, 43, 3), y(65, 43), dy(65, 43), dx(65, 43);
      const Doubles before = dx.dense();
      gelu_forward(s, tanh_form, x.view(), y.view());
      EXPECT_CLOSE(y.dense(), forward({x.dense()}), 1e-6);
      gelu_backward(s, tanh_form, x.view(), dy.view(), dx.view());
      expect_gradient(forward, {x.dense()}, 0, dy.dense(), minus(dx.dense(), before), 1e-5);
    });
  }
}

TEST(Bias, IsAddedToEveryRowAndGathersTheirGradients) {
  for_each_table([] {
    for (const int64_t rows : odd_rows) {
      Matrix y(rows, 37), bias(1, 37), dbias(1, 37);
      Doubles expected = y.dense(), sums = dbias.dense();
      for (size_t i = 0; i < expected.size(); ++i) {
        sums[i % 37] += expected[i];
        expected[i] += bias.dense()[i % 37];
      }
      bias_backward({rows, 37}, y.view(), dbias.data.data());
      EXPECT_CLOSE(dbias.dense(), sums, 1e-5);
      add_bias({rows, 37}, bias.data.data(), y.view());
      EXPECT_CLOSE(y.dense(), expected, 1e-6);
    }
  });
}

TEST(Mix, AndItsGradientEqualTheDefinition) {
  const Forward forward = [](const std::vector<Doubles>& in) {
    Doubles y(in[0].size());
    for (size_t i = 0; i < y.size(); ++i) y[i] = 0.5 * (in[2][0] * in[0][i] + in[2][1] * in[1][i]);
    return y;
  };
  for_each_table([&] {
    const ElementShape s{65, 37};
    Matrix a(65, 37), b(65, 37), y(65, 37), dy(65, 37), da(65, 37), db(65, 37), weight(1, 2), dweight(1, 2);
    const std::vector<Doubles> before{da.dense(), db.dense(), dweight.dense()},
        in{a.dense(), b.dense(), weight.dense()};
    mix_forward(s, 0.5F, weight.data.data(), a.view(), b.view(), y.view());
    EXPECT_CLOSE(y.dense(), forward(in), 1e-6);
    mix_backward(s, 0.5F, weight.data.data(), a.view(), b.view(), dy.view(), da.view(), db.view(),
                 dweight.data.data());
    expect_gradient(forward, in, 0, dy.dense(), minus(da.dense(), before[0]), 1e-5);
    expect_gradient(forward, in, 1, dy.dense(), minus(db.dense(), before[1]), 1e-5);
    expect_gradient(forward, in, 2, dy.dense(), minus(dweight.dense(), before[2]), 1e-5);
  });
}

TEST(Elementwise, AddsAccumulatesAndZeroes) {
  for_each_table([] {
    Matrix a(17, 13), b(17, 13), y(17, 13);
    add_forward({17, 13}, a.view(), b.view(), y.view());
    EXPECT_CLOSE(minus(y.dense(), a.dense()), b.dense(), 1e-6);
    accumulate({17, 13}, a.view(), y.view());
    EXPECT_CLOSE(minus(minus(y.dense(), a.dense()), a.dense()), b.dense(), 1e-6);
    zero({17, 12}, y.view());
    EXPECT_EQ(y.at(16, 11), 0);
    EXPECT_NE(y.at(16, 12), 0);
  });
}

TEST(Embedding, LooksUpAndSumsTheGradientOfARepeatedToken) {
  for_each_table([] {
    const std::vector<int32_t> tokens{4, 0, 4, 2, 4};
    Matrix table(5, 130), y(5, 130), dy(5, 130), dtable(5, 130);
    embed_forward({5, 130, 3}, tokens.data(), table.view(), y.view());
    for (int64_t c = 0; c < 130; ++c) EXPECT_EQ(y.at(2, c), 3 * table.at(4, c));
    const Matrix before = dtable;
    embed_backward({5, 130, 3}, tokens.data(), dy.view(), dtable.view());
    for (int64_t c = 0; c < 130; ++c) {
      const float expected = 3 * (dy.at(0, c) + dy.at(2, c) + dy.at(4, c));
      EXPECT_NEAR(dtable.at(4, c) - Matrix(before).at(4, c), expected, 1e-5);
      EXPECT_EQ(dtable.at(1, c), Matrix(before).at(1, c));
    }
  });
}

}  // namespace
}  // namespace onceover::kernels
