#include "cpu/kernels/attention.h"

#include "cpu/plain_attention.h"
#include "cpu/support.h"

namespace onceover::kernels {
namespace {

// The gradient by the textbook: P and dP as whole matrices.
struct PlainGradient {
  Doubles dq, dk, dv;
};

PlainGradient plain_gradient(const AttendShape& s, const std::vector<Doubles>& in, const Doubles& dy) {
  const size_t hd = static_cast<size_t>(s.head_dim), vd = static_cast<size_t>(s.v_head_dim);
  const size_t heads = static_cast<size_t>(s.heads), kv_heads = static_cast<size_t>(s.kv_heads);
  const size_t k_rows = static_cast<size_t>(s.k_rows);
  PlainGradient g{Doubles(in[0].size()), Doubles(in[1].size()), Doubles(in[2].size())};
  for (int64_t row = 0; row < s.sequences * s.q_rows; ++row) {
    for (size_t h = 0; h < heads; ++h) {
      const size_t kh = h / (heads / kv_heads), base = static_cast<size_t>(row / s.q_rows * s.k_rows);
      const int64_t place = row % s.q_rows + s.q_offset;
      const double* q = &in[0][(static_cast<size_t>(row) * heads + h) * hd];
      const double* out = &dy[(static_cast<size_t>(row) * heads + h) * vd];
      Doubles p(k_rows), dp(k_rows);
      double total = 0, along = 0;
      for (size_t key = 0; key < k_rows; ++key) {
        const int64_t at = static_cast<int64_t>(key);
        if (at > place || (s.window > 0 && at <= place - s.window)) continue;
        if (s.first_key && at < s.first_key[row]) continue;
        double score = 0;
        for (size_t j = 0; j < hd; ++j) score += q[j] * in[1][((base + key) * kv_heads + kh) * hd + j];
        for (size_t j = 0; j < vd; ++j) dp[key] += out[j] * in[2][((base + key) * kv_heads + kh) * vd + j];
        p[key] = std::exp(score * static_cast<double>(s.scale));
        total += p[key];
      }
      if (total == 0) continue;
      for (double& x : p) x /= total;
      for (size_t key = 0; key < k_rows; ++key) along += p[key] * dp[key];
      for (size_t key = 0; key < k_rows; ++key) {
        const size_t k = ((base + key) * kv_heads + kh) * hd, v = ((base + key) * kv_heads + kh) * vd;
        const double ds = p[key] * (dp[key] - along) * static_cast<double>(s.scale);
        for (size_t j = 0; j < vd; ++j) g.dv[v + j] += p[key] * out[j];
        for (size_t j = 0; j < hd; ++j) g.dk[k + j] += ds * q[j];
        for (size_t j = 0; j < hd; ++j)
          g.dq[(static_cast<size_t>(row) * heads + h) * hd + j] += ds * in[1][k + j];
      }
    }
  }
  return g;
}

struct Problem {
  AttendShape s;
  Matrix q, k, v, y, dy, dq, dk, dv;
  std::vector<float> log_sum_exp;

  explicit Problem(const AttendShape& shape)
      : s(shape),
        q(s.sequences * s.q_rows, s.heads * s.head_dim),
        k(s.sequences * s.k_rows, s.kv_heads * s.head_dim),
        v(s.sequences * s.k_rows, s.kv_heads * s.v_head_dim),
        y(q.rows, s.heads * s.v_head_dim),
        dy(q.rows, y.columns),
        dq(q.rows, q.columns),
        dk(k.rows, k.columns),
        dv(v.rows, v.columns),
        log_sum_exp(static_cast<size_t>(q.rows * s.heads)) {
    s.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(s.head_dim)));
  }
  void forward() { attend_forward(s, q.view(), k.view(), v.view(), y.view(), log_sum_exp.data()); }
  void backward() {
    attend_backward(s, q.view(), k.view(), v.view(), y.view(), log_sum_exp.data(), dy.view(), dq.view(),
                    dk.view(), dv.view());
  }
  std::vector<Doubles> inputs() const { return {q.dense(), k.dense(), v.dense()}; }
};

void check(const AttendShape& shape) {
  SCOPED_TRACE(testing::Message() << "sequences " << shape.sequences << " q_rows " << shape.q_rows
                                  << " k_rows " << shape.k_rows << " offset " << shape.q_offset << " heads "
                                  << shape.heads << "/" << shape.kv_heads << " head_dim " << shape.head_dim
                                  << "/" << shape.v_head_dim << " window " << shape.window);
  Problem p(shape);
  p.forward();
  EXPECT_CLOSE(p.y.dense(), plain_attention(p.s, p.inputs()), 1e-5);
  const Doubles dq = p.dq.dense(), dk = p.dk.dense(), dv = p.dv.dense();
  p.backward();
  const PlainGradient expected = plain_gradient(p.s, p.inputs(), p.dy.dense());
  EXPECT_CLOSE(minus(p.dq.dense(), dq), expected.dq, 1e-5);
  EXPECT_CLOSE(minus(p.dk.dense(), dk), expected.dk, 1e-5);
  EXPECT_CLOSE(minus(p.dv.dense(), dv), expected.dv, 1e-5);
}

TEST(Attention, EqualsItsDefinitionAtOddSizes) {
  for_each_table([] {
    for (const int64_t rows : {1, 3, 17, 65, 200}) {
      for (const int64_t window : {0, 1, 2, 8, 100, 300}) {
        check({.sequences = 2,
               .q_rows = rows,
               .k_rows = rows,
               .heads = 2,
               .kv_heads = 2,
               .head_dim = 8,
               .v_head_dim = 8,
               .window = window});
      }
    }
  });
}

TEST(Attention, EqualsItsDefinitionAtEveryHeadSizeAndGrouping) {
  for_each_table([] {
    for (const int64_t head_dim : {6, 8, 16, 64, 128}) {
      for (const int64_t kv_heads : {1, 2, 4}) {
        check({.q_rows = 75,
               .k_rows = 75,
               .heads = 4,
               .kv_heads = kv_heads,
               .head_dim = head_dim,
               .v_head_dim = head_dim + 12,
               .window = kv_heads == 2 ? 20 : 0});
      }
    }
  });
}

TEST(Attention, ReadsKeysOfEarlierCalls) {
  for_each_table([] {
    check({.sequences = 2,
           .q_rows = 5,
           .k_rows = 105,
           .q_offset = 100,
           .heads = 2,
           .kv_heads = 1,
           .head_dim = 16,
           .v_head_dim = 16});
    check({.sequences = 2,
           .q_rows = 70,
           .k_rows = 140,
           .q_offset = 70,
           .heads = 2,
           .kv_heads = 1,
           .head_dim = 16,
           .v_head_dim = 16,
           .window = 33});
    check({.q_rows = 10,
           .k_rows = 4,
           .q_offset = 0,
           .heads = 1,
           .kv_heads = 1,
           .head_dim = 16,
           .v_head_dim = 16});
  });
}

TEST(Attention, GradientEqualsFiniteDifferences) {
  Problem p({.sequences = 2,
             .q_rows = 19,
             .k_rows = 24,
             .q_offset = 5,
             .heads = 4,
             .kv_heads = 2,
             .head_dim = 8,
             .v_head_dim = 16,
             .window = 7});
  const std::vector<Doubles> before{p.dq.dense(), p.dk.dense(), p.dv.dense()};
  p.forward();
  p.backward();
  const Forward forward = [&](const std::vector<Doubles>& in) { return plain_attention(p.s, in); };
  expect_gradient(forward, p.inputs(), 0, p.dy.dense(), minus(p.dq.dense(), before[0]), 1e-5);
  expect_gradient(forward, p.inputs(), 1, p.dy.dense(), minus(p.dk.dense(), before[1]), 1e-5);
  expect_gradient(forward, p.inputs(), 2, p.dy.dense(), minus(p.dv.dense(), before[2]), 1e-5);
}

TEST(Attention, ARowThatSeesNoKeyGivesZerosAndNoGradient) {
  for_each_table([] {
    check({.q_rows = 40,
           .k_rows = 30,
           .q_offset = -12,
           .heads = 2,
           .kv_heads = 1,
           .head_dim = 8,
           .v_head_dim = 8});
    check(
        {.q_rows = 40, .k_rows = 10, .heads = 2, .kv_heads = 1, .head_dim = 8, .v_head_dim = 8, .window = 4});
    // Lengths 3 and 300 in one batch, padded on the left; the padding sees nothing.
    std::vector<int32_t> first_key(600, 0);
    for (size_t row = 0; row < 300; ++row) first_key[row] = 297;
    Problem p({.sequences = 2,
               .q_rows = 300,
               .k_rows = 300,
               .heads = 2,
               .kv_heads = 1,
               .head_dim = 16,
               .v_head_dim = 16,
               .window = 16,
               .first_key = first_key.data()});
    check(p.s);
    p.forward();
    for (int64_t c = 0; c < p.y.columns; ++c) EXPECT_EQ(p.y.at(100, c), 0);
    for (float& x : p.dq.data) x = 0;
    p.backward();
    for (int64_t c = 0; c < p.dq.columns; ++c) EXPECT_EQ(p.dq.at(100, c), 0);
  });
}

TEST(Attention, DocumentsPackedIntoASequenceDoNotSeeEachOther) {
  for_each_table([] {
    std::vector<int32_t> first_key(150);
    for (size_t row = 0; row < 150; ++row) first_key[row] = row < 40 ? 0 : row < 101 ? 40 : 101;
    check({.q_rows = 150,
           .k_rows = 150,
           .heads = 2,
           .kv_heads = 2,
           .head_dim = 16,
           .v_head_dim = 16,
           .first_key = first_key.data()});
  });
}

TEST(Attention, SurvivesScoresThatOverflowTheExponential) {
  for_each_table([] {
    Problem p({.q_rows = 80, .k_rows = 80, .heads = 1, .kv_heads = 1, .head_dim = 16, .v_head_dim = 16});
    for (float& x : p.q.data) x *= 300;
    p.forward();
    p.backward();
    for (const Matrix* m : {&p.y, &p.dq, &p.dk, &p.dv}) {
      for (const double x : m->dense()) ASSERT_TRUE(std::isfinite(x));
    }
  });
}

TEST(Attention, RepeatsBitForBitWhateverTheThreads) {
  Problem p({.sequences = 3,
             .q_rows = 200,
             .k_rows = 200,
             .heads = 4,
             .kv_heads = 2,
             .head_dim = 32,
             .v_head_dim = 32});
  Problem other = p;
  omp_set_num_threads(2);
  p.forward();
  p.backward();
  omp_set_num_threads(1);
  other.forward();
  other.backward();
  omp_set_num_threads(2);
  EXPECT_EQ(p.y.dense(), other.y.dense());
  EXPECT_EQ(p.dq.dense(), other.dq.dense());
  EXPECT_EQ(p.dk.dense(), other.dk.dense());
  EXPECT_EQ(p.dv.dense(), other.dv.dense());
}

}  // namespace
}  // namespace onceover::kernels
