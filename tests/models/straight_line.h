// Models written straight from their official code, in double precision, with their official tensor names:
// whole texts, dense matrices, no plan, no cache, and none of this project's equations. What is loaded must
// agree.
//
// Rows are [tokens, width]; weights are row-major, as the files hold them.
#pragma once
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace onceover::straight {

using Vector = std::vector<double>;
using Rows = std::vector<Vector>;

struct Tensor {
  std::vector<int64_t> shape;
  std::vector<float> numbers;
};

class Tensors {
 public:
  std::map<std::string, Tensor> all;

  bool has(const std::string& name) const { return all.contains(name); }
  double at(const std::string& name, size_t i) const {
    return static_cast<double>(all.at(name).numbers.at(i));
  }

  // x Wᵀ + bias, W [out, in] under name.weight; the bias if there is one.
  Rows linear(const Rows& x, const std::string& name) const {
    const size_t out = static_cast<size_t>(all.at(name + ".weight").shape[0]);
    return product(x, out, name,
                   [&](size_t o, size_t i, size_t in) { return at(name + ".weight", o * in + i); });
  }
  // x W + bias, W [in, out]: GPT-2's Conv1D.
  Rows conv1d(const Rows& x, const std::string& name) const {
    const size_t out = static_cast<size_t>(all.at(name + ".weight").shape[1]);
    return product(x, out, name,
                   [&](size_t o, size_t i, size_t) { return at(name + ".weight", i * out + o); });
  }
  Rows embed(const std::vector<int>& text, const std::string& name, double scale = 1) const {
    const size_t width = static_cast<size_t>(all.at(name + ".weight").shape[1]);
    Rows x;
    for (const int token : text) {
      x.emplace_back();
      for (size_t j = 0; j < width; j++)
        x.back().push_back(scale * at(name + ".weight", static_cast<size_t>(token) * width + j));
    }
    return x;
  }
  Rows rms(Rows x, const std::string& name, double eps) const {
    for (Vector& row : x) {
      double squares = 0;
      for (double e : row) squares += e * e / static_cast<double>(row.size());
      for (size_t j = 0; j < row.size(); j++) row[j] *= at(name + ".weight", j) / std::sqrt(squares + eps);
    }
    return x;
  }
  Rows layer_norm(Rows x, const std::string& name, double eps) const {
    for (Vector& row : x) {
      double mean = 0, variance = 0;
      for (double e : row) mean += e / static_cast<double>(row.size());
      for (double e : row) variance += (e - mean) * (e - mean) / static_cast<double>(row.size());
      for (size_t j = 0; j < row.size(); j++)
        row[j] =
            (row[j] - mean) / std::sqrt(variance + eps) * at(name + ".weight", j) + at(name + ".bias", j);
    }
    return x;
  }

 private:
  Rows product(const Rows& x, size_t out, const std::string& name,
               const std::function<double(size_t, size_t, size_t)>& weight) const {
    Rows y;
    for (const Vector& row : x) {
      y.emplace_back(out);
      for (size_t o = 0; o < out; o++) {
        double sum = has(name + ".bias") ? at(name + ".bias", o) : 0;
        for (size_t i = 0; i < row.size(); i++) sum += weight(o, i, row.size()) * row[i];
        y.back()[o] = sum;
      }
    }
    return y;
  }
};

inline Rows plus(Rows a, const Rows& b) {
  for (size_t n = 0; n < a.size(); n++)
    for (size_t j = 0; j < a[n].size(); j++) a[n][j] += b[n][j];
  return a;
}

inline Rows columns(const Rows& x, size_t first, size_t count) {
  Rows y;
  for (const Vector& row : x)
    y.emplace_back(row.begin() + static_cast<std::ptrdiff_t>(first),
                   row.begin() + static_cast<std::ptrdiff_t>(first + count));
  return y;
}

inline Rows map(Rows x, const std::function<double(double)>& f) {
  for (Vector& row : x)
    for (double& e : row) e = f(e);
  return x;
}

inline double silu(double x) { return x / (1 + std::exp(-x)); }
inline double gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }
inline double gelu_new(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * std::pow(x, 3))));
}

inline Rows gated(Rows gate, const Rows& up) {
  for (size_t n = 0; n < gate.size(); n++)
    for (size_t j = 0; j < gate[n].size(); j++) gate[n][j] = silu(gate[n][j]) * up[n][j];
  return gate;
}

// In every head of `dim`, element j turns with element j + half (or, interleaved, 2j with 2j + 1) by position
// * frequency[j], and is multiplied by `scale`; what lies behind the turned ones stays.
inline Rows rotate(Rows x, size_t dim, const Vector& frequency, bool interleaved = false, double scale = 1) {
  for (size_t n = 0; n < x.size(); n++)
    for (size_t head = 0; head < x[n].size(); head += dim)
      for (size_t j = 0; j < frequency.size(); j++) {
        double& a = x[n][head + (interleaved ? 2 * j : j)];
        double& b = x[n][head + (interleaved ? 2 * j + 1 : j + frequency.size())];
        const double angle = static_cast<double>(n) * frequency[j], before = a;
        a = scale * (before * std::cos(angle) - b * std::sin(angle));
        b = scale * (before * std::sin(angle) + b * std::cos(angle));
      }
  return x;
}

inline Vector frequencies(double theta, size_t dim) {
  Vector f;
  for (size_t j = 0; j < dim / 2; j++)
    f.push_back(1 / std::pow(theta, 2.0 * static_cast<double>(j) / static_cast<double>(dim)));
  return f;
}

// Row n sees rows n - window + 1 to n; window 0 = all before it.
inline Rows attention(const Rows& q, const Rows& k, const Rows& v, size_t dim, size_t window = 0) {
  const size_t heads = q[0].size() / dim, group = heads / (k[0].size() / dim);
  Rows y;
  for (size_t n = 0; n < q.size(); n++) {
    y.emplace_back(q[n].size());
    for (size_t h = 0; h < heads; h++) {
      const size_t first = window > 0 && n + 1 > window ? n + 1 - window : 0;
      Vector p;
      double total = 0;
      for (size_t m = first; m <= n; m++) {
        double score = 0;
        for (size_t e = 0; e < dim; e++) score += q[n][h * dim + e] * k[m][h / group * dim + e];
        p.push_back(std::exp(score / std::sqrt(static_cast<double>(dim))));
        total += p.back();
      }
      for (size_t m = first; m <= n; m++)
        for (size_t e = 0; e < dim; e++)
          y[n][h * dim + e] += p[m - first] / total * v[m][h / group * dim + e];
    }
  }
  return y;
}

}  // namespace onceover::straight
