#include "reference/equations.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace onceover::reference {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double dot(const double* a, const double* b, size_t count) {
  return std::inner_product(a, a + count, b, 0.0);
}

Vector softmax(Vector scores) {
  const double largest = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (double& score : scores) sum += score = std::exp(score - largest);
  for (double& score : scores) score /= sum;
  return scores;
}

// The part of a stack of matrices that belongs to expert e.
Vector expert_matrix(const Vector& stack, size_t experts, int e) {
  const auto size = static_cast<std::ptrdiff_t>(stack.size() / experts);
  return Vector(stack.begin() + e * size, stack.begin() + (e + 1) * size);
}

}  // namespace

Vector embed(const Embed& op, const Vector& table, int64_t index, int width) {
  const auto start = table.begin() + index * width;
  Vector y(start, start + width);
  for (double& element : y) element *= op.scale;
  return y;
}

Vector norm(const Norm& op, const Vector* weight, const Vector* bias, Vector x) {
  const size_t part = x.size() / op.groups;
  for (size_t start = 0; start < x.size(); start += part) {
    const auto first = x.begin() + static_cast<std::ptrdiff_t>(start),
               end = first + static_cast<std::ptrdiff_t>(part);
    const double mean = op.centred ? std::accumulate(first, end, 0.0) / static_cast<double>(part) : 0;
    for (auto element = first; element != end; ++element) *element -= mean;
    const double mean_square = dot(&x[start], &x[start], part) / static_cast<double>(part);
    const double inverse_rms = 1 / std::sqrt(mean_square + op.eps);
    for (size_t j = start; j < start + part; j++) {
      x[j] *= inverse_rms * (weight ? (*weight)[op.shared ? j - start : j] : 1);
      if (bias) x[j] += (*bias)[j];
    }
  }
  return x;
}

Vector linear(const Vector& weight, const Vector& x) {
  Vector y(weight.size() / x.size());
  for (size_t o = 0; o < y.size(); o++) y[o] = dot(&weight[o * x.size()], x.data(), x.size());
  return y;
}

Vector rope(const Rope& op, Vector x, int64_t row) {
  const size_t head_dim = x.size() / op.heads;
  const std::vector<double> frequencies = rope_frequencies(op.angles, static_cast<int64_t>(head_dim));
  const double magnitude = rope_magnitude(op.angles);
  const size_t half = frequencies.size();
  for (size_t start = 0; start < x.size(); start += head_dim) {
    for (size_t j = 0; j < half; j++) {
      const double angle = static_cast<double>(row) * frequencies[j];
      const double a = x[start + j], b = x[start + j + half];
      x[start + j] = magnitude * (a * std::cos(angle) - b * std::sin(angle));
      x[start + j + half] = magnitude * (a * std::sin(angle) + b * std::cos(angle));
    }
  }
  return x;
}

Vector attend(const Attend& op, const Vector& q, const RowViews& k, const RowViews& v) {
  const size_t head_dim = q.size() / op.heads, v_head_dim = v[0]->size() / op.kv_heads;
  Vector y(op.heads * v_head_dim);
  for (int h = 0; h < op.heads; h++) {
    const size_t kv_head = h / (op.heads / op.kv_heads);
    Vector scores;
    for (const Vector* key : k)
      scores.push_back(op.scale * dot(&q[h * head_dim], &(*key)[kv_head * head_dim], head_dim));
    const Vector p = softmax(std::move(scores));
    for (size_t i = 0; i < v.size(); i++)
      for (size_t j = 0; j < v_head_dim; j++)
        y[h * v_head_dim + j] += p[i] * (*v[i])[kv_head * v_head_dim + j];
  }
  return y;
}

void take_in(const Retain& op, Vector& state, const Vector& k, const Vector& v, const Vector& decay) {
  const size_t head_dim = k.size() / op.heads, v_head_dim = v.size() / op.heads;
  for (int h = 0; h < op.heads; h++) {
    const double gamma = std::pow(sigmoid(decay[h]), 1.0 / op.temperature);
    for (size_t i = h * head_dim; i < (h + 1) * head_dim; i++)
      for (size_t j = 0; j < v_head_dim; j++) {
        double& s = state[i * v_head_dim + j];
        s = gamma * s + k[i] * v[h * v_head_dim + j];
      }
  }
}

Vector read_out(const Retain& op, const Vector& state, const Vector& q) {
  const size_t head_dim = q.size() / op.heads, v_head_dim = state.size() / q.size();
  Vector y(op.heads * v_head_dim);
  for (int h = 0; h < op.heads; h++)
    for (size_t i = h * head_dim; i < (h + 1) * head_dim; i++)
      for (size_t j = 0; j < v_head_dim; j++)
        y[h * v_head_dim + j] += op.scale * q[i] * state[i * v_head_dim + j];
  return y;
}

Vector swiglu(const Vector& gate, const Vector& up) {
  Vector y(gate.size());
  for (size_t j = 0; j < y.size(); j++) y[j] = gate[j] * sigmoid(gate[j]) * up[j];
  return y;
}

Vector activate(const Activate& op, Vector x) {
  for (double& e : x) {
    const double inner = op.function == Activation::Gelu
                             ? std::erf(e / std::numbers::sqrt2)
                             : std::tanh(std::sqrt(2 / std::numbers::pi) * (e + 0.044715 * e * e * e));
    e *= 0.5 * (1 + inner);
  }
  return x;
}

Vector add(Vector a, const Vector& b) {
  for (size_t j = 0; j < a.size(); j++) a[j] += b[j];
  return a;
}

Vector mix(const Mix& op, const Vector& weight, const Vector& a, const Vector& b) {
  Vector y(a.size());
  for (size_t j = 0; j < y.size(); j++) y[j] = op.scale * (weight[0] * a[j] + weight[1] * b[j]);
  return y;
}

Vector router_probabilities(const Vector& router, const Vector& x) { return softmax(linear(router, x)); }

std::vector<int> chosen_experts(const Experts& op, const Vector& probabilities) {
  std::vector<int> order(probabilities.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return probabilities[a] > probabilities[b]; });
  order.resize(op.active);
  return order;
}

Vector experts(const Experts& op, const ExpertWeights& weights, const Vector& x) {
  const Vector p = router_probabilities(weights.router, x);
  const std::vector<int> chosen = chosen_experts(op, p);
  double sum = 0;
  for (int e : chosen) sum += p[e];
  Vector y(x.size());
  for (int e : chosen) {
    const auto matrix = [&](const Vector& stack) { return expert_matrix(stack, p.size(), e); };
    const Vector hidden = swiglu(linear(matrix(weights.gate), x), linear(matrix(weights.up), x));
    const Vector out = linear(matrix(weights.down), hidden);
    const double share = op.normalise ? p[e] / sum : p[e];
    for (size_t j = 0; j < y.size(); j++) y[j] += share * out[j];
  }
  return y;
}

double balance_loss(const Experts& op, const Vector& router, const RowsOf& x) {
  if (x.empty()) return 0;
  const size_t count = router.size() / x.begin()->second.size();
  Vector routed(count), mean(count);
  const auto rows = static_cast<double>(x.size());
  for (const auto& [row, values] : x) {
    const Vector p = router_probabilities(router, values);
    for (int e : chosen_experts(op, p)) routed[e] += 1 / (rows * op.active);
    for (size_t e = 0; e < count; e++) mean[e] += p[e] / rows;
  }
  return static_cast<double>(count) * dot(routed.data(), mean.data(), count);
}

}  // namespace onceover::reference
