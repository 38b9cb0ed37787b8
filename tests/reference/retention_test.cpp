// The three forms of gated retention (arXiv 2405.05254 eq. 5-7) are one function. The oracle has the
// recurrent form; the other two are written here from their equations.
#include <gtest/gtest.h>

#include <cmath>

#include "plan/builder.h"
#include "reference/equations.h"
#include "support/oracle.h"
#include "support/random.h"

namespace onceover::test {
namespace {

using reference::Vector;
using Matrix = std::vector<Vector>;  // one row a token

constexpr int head_dim = 4, v_head_dim = 3;
constexpr double temperature = 16, scale = 0.5, tolerance = 1e-12;
const Retain op{.q = 0, .k = 1, .v = 2, .decay = 3, .heads = 1, .temperature = temperature, .scale = scale};

struct Inputs {
  Matrix q, k, v;
  Vector decay;
};

Inputs random_inputs(FreshRandom& random, int tokens) {
  Inputs in;
  for (int n = 0; n < tokens; n++) {
    in.q.push_back(random.normals(head_dim));
    in.k.push_back(random.normals(head_dim));
    in.v.push_back(random.normals(v_head_dim));
    in.decay.push_back(3 * random.normal());
  }
  return in;
}

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); i++) sum += a[i] * b[i];
  return sum;
}

double gate(double decay) { return std::pow(1 / (1 + std::exp(-decay)), 1 / temperature); }

// Π γ_i for i from first to last; 1 when there are none.
double decay_between(const Inputs& in, int first, int last) {
  double product = 1;
  for (int i = first; i <= last; i++) product *= gate(in.decay[i]);
  return product;
}

// out_n = Σ_m (q_n · k_m) D_nm v_m over rows [first, n].
Vector parallel_row(const Inputs& in, int first, int n) {
  Vector out(v_head_dim);
  for (int m = first; m <= n; m++) {
    const double weight = scale * dot(in.q[n], in.k[m]) * decay_between(in, m + 1, n);
    for (int j = 0; j < v_head_dim; j++) out[j] += weight * in.v[m][j];
  }
  return out;
}

Matrix recurrent(const Inputs& in) {
  Matrix out;
  Vector state(head_dim * v_head_dim);
  for (size_t n = 0; n < in.q.size(); n++) {
    reference::take_in(op, state, in.k[n], in.v[n], {in.decay[n]});
    out.push_back(reference::read_out(op, state, in.q[n]));
  }
  return out;
}

Matrix parallel(const Inputs& in) {
  Matrix out;
  for (size_t n = 0; n < in.q.size(); n++) out.push_back(parallel_row(in, 0, static_cast<int>(n)));
  return out;
}

// Within a chunk the parallel form, across chunks the state R: out += (Q R) ⊙ β, R <- Kᵀ(V ⊙ β_B/β) + β_B R.
Matrix chunkwise(const Inputs& in, const std::vector<int64_t>& chunks) {
  Matrix out, state(head_dim, Vector(v_head_dim));
  int start = 0;
  for (const int64_t chunk : chunks) {
    const int end = start + static_cast<int>(chunk);
    for (int n = start; n < end; n++) {
      Vector row = parallel_row(in, start, n);
      const double beta = decay_between(in, start, n);
      for (int i = 0; i < head_dim; i++)
        for (int j = 0; j < v_head_dim; j++) row[j] += scale * in.q[n][i] * state[i][j] * beta;
      out.push_back(row);
    }
    for (int i = 0; i < head_dim; i++)
      for (int j = 0; j < v_head_dim; j++) {
        state[i][j] *= decay_between(in, start, end - 1);
        for (int m = start; m < end; m++)
          state[i][j] += in.k[m][i] * in.v[m][j] * decay_between(in, m + 1, end - 1);
      }
    start = end;
  }
  return out;
}

void expect_equal(const Matrix& a, const Matrix& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t n = 0; n < a.size(); n++)
    for (int j = 0; j < v_head_dim; j++) EXPECT_NEAR(a[n][j], b[n][j], tolerance) << "row " << n;
}

TEST(Retention, ParallelEqualsRecurrent) {
  FreshRandom random;
  const Inputs in = random_inputs(random, 40);
  expect_equal(parallel(in), recurrent(in));
}

TEST(Retention, ChunkwiseEqualsRecurrentForAnyChunks) {
  FreshRandom random;
  const Inputs in = random_inputs(random, 40);
  expect_equal(chunkwise(in, std::vector<int64_t>(40, 1)), recurrent(in));
  expect_equal(chunkwise(in, {40}), recurrent(in));
  for (int i = 0; i < 5; i++) expect_equal(chunkwise(in, random.split(40)), recurrent(in));
}

TEST(Retention, TakesInEveryRowEvenWhenOnlyTheLastIsRead) {
  FreshRandom random;
  Builder b;
  const ValueId x = b.embed("table", 7, 4, Init::normal(1));
  const ValueId decay = b.linear(x, "decay", {2, "", "", Init::normal(1)});
  b.logits(b.retain(x, {x, x}, decay, 2, 16), "model.head.weight", 3, Init::normal(1));
  const Plan plan = b.finish();
  const reference::Weights weights = random_weights(plan, random.seed());
  const std::vector<int> text = random.tokens(9, 7);
  const reference::RowsOf whole = all_logits(plan, weights, text);
  Sequence sequence(plan, weights);
  sequence.feed_silently(std::span(text).first(3));
  EXPECT_EQ(sequence.feed(std::span(text).subspan(3, 4)).at(6), whole.at(6));
  EXPECT_EQ(sequence.feed(std::span(text).subspan(7)).at(8), whole.at(8));
}

}  // namespace
}  // namespace onceover::test
