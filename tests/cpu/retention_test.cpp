#include "cpu/kernels/retention.h"

#include "cpu/support.h"

namespace onceover::kernels {
namespace {

// The recurrence S_n = γ_n S_{n-1} + k_nᵀ v_n, y_n = scale q_n S_n; dense inputs {q, k, v, decay}.
Doubles plain_retention(const RetainShape& s, const std::vector<Doubles>& in) {
  const size_t hd = static_cast<size_t>(s.head_dim), vd = static_cast<size_t>(s.v_head_dim);
  const size_t heads = static_cast<size_t>(s.heads), rows = static_cast<size_t>(s.rows);
  Doubles y(static_cast<size_t>(s.sequences) * rows * heads * vd);
  for (size_t sequence = 0; sequence < static_cast<size_t>(s.sequences); ++sequence) {
    for (size_t h = 0; h < heads; ++h) {
      Doubles state(hd * vd);
      for (size_t row = sequence * rows; row < (sequence + 1) * rows; ++row) {
        const double gamma =
            std::pow(1 / (1 + std::exp(-in[3][row * heads + h])), 1 / static_cast<double>(s.temperature));
        for (size_t i = 0; i < hd; ++i) {
          for (size_t j = 0; j < vd; ++j) {
            double& cell = state[i * vd + j];
            cell = gamma * cell + in[1][(row * heads + h) * hd + i] * in[2][(row * heads + h) * vd + j];
            y[(row * heads + h) * vd + j] +=
                static_cast<double>(s.scale) * in[0][(row * heads + h) * hd + i] * cell;
          }
        }
      }
    }
  }
  return y;
}

struct Problem {
  RetainShape s;
  Matrix q, k, v, decay, y;

  explicit Problem(const RetainShape& shape)
      : s(shape),
        q(s.sequences * s.rows, s.heads * s.head_dim),
        k(q.rows, q.columns),
        v(q.rows, s.heads * s.v_head_dim),
        decay(q.rows, s.heads, 3),
        y(q.rows, v.columns) {
    s.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(s.head_dim)));
  }
  std::vector<Doubles> inputs() const { return {q.dense(), k.dense(), v.dense(), decay.dense()}; }
  size_t state_floats() const {
    return static_cast<size_t>(s.sequences * s.heads * s.head_dim * s.v_head_dim);
  }
};

TEST(Retention, ChunkwiseEqualsTheRecurrence) {
  for_each_table([] {
    for (const int64_t rows : {1, 3, 17, 64, 65, 200}) {
      for (const float temperature : {1.0F, 16.0F}) {
        Problem p({.sequences = 2,
                   .rows = rows,
                   .heads = 2,
                   .head_dim = 12,
                   .v_head_dim = 24,
                   .temperature = temperature});
        retain_forward(p.s, p.q.view(), p.k.view(), p.v.view(), p.decay.view(), p.y.view(), nullptr);
        EXPECT_CLOSE(p.y.dense(), plain_retention(p.s, p.inputs()), 1e-5);
      }
    }
  });
}

TEST(Retention, PiecesAndStepsContinueTheState) {
  for_each_table([] {
    const Problem p({.rows = 90, .heads = 3, .head_dim = 16, .v_head_dim = 20});
    Matrix y(90, 60, 0);
    std::vector<float> state(p.state_floats(), 0);
    const auto from = [](Input m, int64_t row) { return Input{m[row], m.stride}; };
    RetainShape part = p.s;
    for (int64_t row = 0; row < 90; row += part.rows) {
      part.rows = row < 70 ? 70 : 1;
      const auto run = part.rows == 1 ? retain_step : retain_forward;
      run(part, from(p.q.view(), row), from(p.k.view(), row), from(p.v.view(), row),
          from(p.decay.view(), row), {y.view()[row], y.stride}, state.data());
    }
    EXPECT_CLOSE(y.dense(), plain_retention(p.s, p.inputs()), 1e-5);
  });
}

TEST(Retention, GradientEqualsFiniteDifferences) {
  for_each_table([] {
    for (const int64_t rows : {1, 3, 65, 150}) {
      const Problem p(
          {.sequences = 2, .rows = rows, .heads = 2, .head_dim = 8, .v_head_dim = 12, .temperature = 4});
      Matrix dq = p.q, dk = p.k, dv = p.v, ddecay = p.decay;
      const std::vector<Doubles> before{dq.dense(), dk.dense(), dv.dense(), ddecay.dense()};
      const Matrix dy(p.y.rows, p.y.columns);
      retain_backward(p.s, p.q.view(), p.k.view(), p.v.view(), p.decay.view(), dy.view(), dq.view(),
                      dk.view(), dv.view(), ddecay.view());
      const Forward forward = [&](const std::vector<Doubles>& in) { return plain_retention(p.s, in); };
      const std::vector<Doubles> after{dq.dense(), dk.dense(), dv.dense(), ddecay.dense()};
      for (size_t which = 0; which < 4; ++which) {
        expect_gradient(forward, p.inputs(), which, dy.dense(), minus(after[which], before[which]), 2e-5, 8);
      }
    }
  });
}

TEST(Retention, StrongDecayForgetsWithoutOverflow) {
  for_each_table([] {
    Problem p({.rows = 130, .heads = 1, .head_dim = 8, .v_head_dim = 8, .temperature = 1});
    for (float& x : p.decay.data) x = -200;
    retain_forward(p.s, p.q.view(), p.k.view(), p.v.view(), p.decay.view(), p.y.view(), nullptr);
    EXPECT_CLOSE(p.y.dense(), plain_retention(p.s, p.inputs()), 1e-5);
  });
}

}  // namespace
}  // namespace onceover::kernels
