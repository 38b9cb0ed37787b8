// Random matrices, comparison and finite differences for the kernel tests. Every expected value is computed
// in double by plain loops that the tests hold themselves.
#pragma once
#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "cpu/kernels/leaves.h"
#include "cpu/kernels/view.h"
#include "support/fresh_seed.h"

namespace onceover::kernels {

using Doubles = std::vector<double>;

inline std::mt19937& random_engine() {
  static std::mt19937 engine(fresh_seed());
  return engine;
}

inline double random_normal(double deviation = 1) {
  return std::normal_distribution<double>(0, deviation)(random_engine());
}

// [rows, columns] floats whose rows lie `columns + gap` apart.
struct Matrix {
  int64_t rows, columns, stride;
  std::vector<float> data;

  Matrix(int64_t rows_, int64_t columns_, double deviation = 1, int64_t gap = 3)
      : rows(rows_),
        columns(columns_),
        stride(columns_ + gap),
        data(static_cast<size_t>(rows_ * (columns_ + gap))) {
    for (float& x : data) x = static_cast<float>(deviation == 0 ? 0 : random_normal(deviation));
  }
  Output view() { return {data.data(), stride}; }
  Input view() const { return {data.data(), stride}; }
  float& at(int64_t r, int64_t c) { return data[static_cast<size_t>(r * stride + c)]; }
  Doubles dense() const {
    Doubles y;
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c)
        y.push_back(static_cast<double>(data[static_cast<size_t>(r * stride + c)]));
    }
    return y;
  }
};

inline Doubles minus(Doubles a, const Doubles& b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return a;
}

// Errors are relative to the largest expected magnitude, or to 0.3 where all expected values are smaller:
// inputs are near 1, so a value that cancels to nothing keeps their rounding.
constexpr double least_size = 0.3;

// The largest difference over the largest expected magnitude, or over `typical` where that is larger: what
// sums of as many numbers usually are, for results so few that they may all be small by chance.
inline double relative_error(const Doubles& got, const Doubles& expected, double typical = least_size) {
  double difference = 0, size = typical;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double d = std::abs(got[i] - expected[i]);
    difference = std::isnan(d) ? INFINITY : std::max(difference, d);
    size = std::max(size, std::abs(expected[i]));
  }
  return difference / size;
}

#define EXPECT_CLOSE(got, expected, tolerance)                   \
  do {                                                           \
    ASSERT_EQ((got).size(), (expected).size());                  \
    EXPECT_LE(relative_error(got, expected), tolerance) << #got; \
  } while (false)

using Forward = std::function<Doubles(const std::vector<Doubles>&)>;

// Compares `gradient`, that of Σ dy y with respect to inputs[which], with central differences of `forward` in
// double at up to `samples` random places. Relative to the largest gradient.
inline void expect_gradient(const Forward& forward, std::vector<Doubles> inputs, size_t which,
                            const Doubles& dy, const Doubles& gradient, double tolerance, int samples = 24) {
  ASSERT_EQ(inputs[which].size(), gradient.size());
  double size = least_size;
  for (const double g : gradient) size = std::max(size, std::abs(g));
  const auto loss = [&] {
    const Doubles y = forward(inputs);
    double total = 0;
    for (size_t i = 0; i < y.size(); ++i) total += y[i] * dy[i];
    return total;
  };
  for (int n = 0; n < samples; ++n) {
    const size_t i = random_engine()() % gradient.size();
    const double kept = inputs[which][i], step = 1e-5;
    inputs[which][i] = kept + step;
    const double above = loss();
    inputs[which][i] = kept - step;
    const double below = loss();
    inputs[which][i] = kept;
    EXPECT_NEAR((above - below) / (2 * step), gradient[i], tolerance * size)
        << "input " << which << ", element " << i;
  }
}

// Runs `body` once for each table of leaves that this machine has, at one thread and at two.
inline void for_each_table(const std::function<void()>& body) {
  const Leaves& usual = leaves();
  const int usual_threads = omp_get_max_threads();
  std::vector<const Leaves*> tables{&portable_leaves};
#if defined(__x86_64__)
  if (has_avx2()) tables.push_back(&avx2_leaves);
#endif
  for (const Leaves* table : tables) {
    for (const int threads : {1, 2}) {
      SCOPED_TRACE(std::string(table->name) + ", threads " + std::to_string(threads));
      use_leaves(*table);
      omp_set_num_threads(threads);
      body();
    }
  }
  use_leaves(usual);
  omp_set_num_threads(usual_threads);
}

}  // namespace onceover::kernels
