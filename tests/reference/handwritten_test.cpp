// Four models written straight from their papers' equations, as dense matrices over the whole text: no plan,
// no cache, no demand, none of the oracle's equations. The oracle running the recorded plan must agree.
//
// X is [tokens, width]; weights are found by name.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "architectures/registry.h"
#include "support/models.h"
#include "support/oracle.h"
#include "support/random.h"

namespace onceover::test {
namespace {

using reference::Vector;
using reference::Weights;
using Matrix = std::vector<Vector>;

constexpr double tolerance = 1e-12;

class Handwritten {
 public:
  Handwritten(const Config& config, const Plan& plan, const Weights& weights) : c(config) {
    for (size_t w = 0; w < weights.size(); w++) named_[plan.weights[w].name] = weights[w];
  }

  Matrix transformer(const std::vector<int>& text) const;
  Matrix yoco_u(const std::vector<int>& text, int loops) const;  // eq. 1-4 of arXiv 2604.01220
  Matrix yoco_with_retention(const std::vector<int>& text) const;
  Matrix yoco_plus(const std::vector<int>& text, int loops) const;  // arXiv 2604.13556, K_0 of the same loop

 private:
  const Vector& weight(const std::string& name) const { return named_.at("model." + name + ".weight"); }
  Matrix embed(const std::vector<int>& text) const;
  Matrix times(const Matrix& x, const std::string& name) const;  // X Wᵀ
  Matrix rms_norm(const Matrix& x, const std::string& name) const;
  Matrix rotated(Matrix x, int heads) const;
  Matrix attention(const Matrix& q, const Matrix& k, const Matrix& v, int window) const;
  Matrix swiglu_block(const Matrix& y, const std::string& layer) const;
  Matrix self_block(const Matrix& x, int layer, int window) const;
  Matrix mixed(const Matrix& first, const Matrix& own, const std::string& name) const;
  Matrix cross_block(const Matrix& x, int layer, const Matrix& k, const Matrix& v, bool rope) const;
  Matrix gated_retention(const Matrix& x, const std::string& name) const;
  Matrix head(const Matrix& x) const;

  Config c;
  std::map<std::string, Vector> named_;
};

double eps_of(const Config& c) { return static_cast<float>(c.rms_norm_eps); }
double swish(double x) { return x / (1 + std::exp(-x)); }

Matrix sum(Matrix a, const Matrix& b) {
  for (size_t n = 0; n < a.size(); n++)
    for (size_t j = 0; j < a[n].size(); j++) a[n][j] += b[n][j];
  return a;
}

Matrix times_matrix(const Matrix& x, const Vector& w) {
  Matrix y;
  for (const Vector& row : x) {
    y.emplace_back(w.size() / row.size());
    for (size_t o = 0; o < y.back().size(); o++)
      for (size_t i = 0; i < row.size(); i++) y.back()[o] += w[o * row.size() + i] * row[i];
  }
  return y;
}

Matrix Handwritten::embed(const std::vector<int>& text) const {
  Matrix x;
  for (const int token : text) {
    const auto row = weight("embed_tokens").begin() + token * c.hidden_size;
    x.emplace_back(row, row + c.hidden_size);
  }
  return x;
}

Matrix Handwritten::times(const Matrix& x, const std::string& name) const {
  return times_matrix(x, weight(name));
}

Matrix Handwritten::rms_norm(const Matrix& x, const std::string& name) const {
  Matrix y = x;
  for (Vector& row : y) {
    double square = 0;
    for (const double element : row) square += element * element;
    const double rms = std::sqrt(square / c.hidden_size + eps_of(c));
    for (int j = 0; j < c.hidden_size; j++) row[j] = row[j] / rms * weight(name)[j];
  }
  return y;
}

Matrix Handwritten::rotated(Matrix x, int heads) const {
  for (size_t n = 0; n < x.size(); n++) {
    const int d = static_cast<int>(x[n].size()) / heads;
    for (int h = 0; h < heads; h++)
      for (int j = 0; j < d / 2; j++) {
        const double angle = static_cast<double>(n) / std::pow(c.rope_theta, 2.0 * j / d);
        double &a = x[n][h * d + j], &b = x[n][h * d + j + d / 2];
        const double turned = a * std::cos(angle) - b * std::sin(angle);
        b = b * std::cos(angle) + a * std::sin(angle);
        a = turned;
      }
  }
  return x;
}

// softmax(Q Kᵀ / sqrt(d) + B) V with B = 0 where i - window < j <= i, else -infinity; window 0 = no limit.
Matrix Handwritten::attention(const Matrix& q, const Matrix& k, const Matrix& v, int window) const {
  const int tokens = static_cast<int>(q.size()), d = c.head_dim;
  const int group = c.num_attention_heads / c.num_key_value_heads;
  Matrix y(tokens, Vector(c.num_attention_heads * d));
  for (int h = 0; h < c.num_attention_heads; h++)
    for (int i = 0; i < tokens; i++) {
      Vector p(tokens);
      double total = 0;
      for (int j = 0; j < tokens; j++) {
        double score = 0;
        for (int e = 0; e < d; e++) score += q[i][h * d + e] * k[j][h / group * d + e] / std::sqrt(d);
        const bool seen = j <= i && (window == 0 || i - window < j);
        p[j] = std::exp(score + (seen ? 0 : -std::numeric_limits<double>::infinity()));
        total += p[j];
      }
      for (int j = 0; j < tokens; j++)
        for (int e = 0; e < d; e++) y[i][h * d + e] += p[j] / total * v[j][h / group * d + e];
    }
  return y;
}

// Y + SwiGLU(LN(Y)).
Matrix Handwritten::swiglu_block(const Matrix& y, const std::string& layer) const {
  const Matrix n = rms_norm(y, layer + ".post_attention_layernorm");
  Matrix hidden = times(n, layer + ".mlp.gate_proj");
  const Matrix up = times(n, layer + ".mlp.up_proj");
  for (size_t i = 0; i < hidden.size(); i++)
    for (size_t j = 0; j < hidden[i].size(); j++) hidden[i][j] = swish(hidden[i][j]) * up[i][j];
  return sum(y, times(hidden, layer + ".mlp.down_proj"));
}

Matrix Handwritten::self_block(const Matrix& x, int layer, int window) const {
  const std::string name = "layers." + std::to_string(layer), at = name + ".self_attn.";
  const Matrix n = rms_norm(x, name + ".input_layernorm");
  const Matrix q = rotated(times(n, at + "q_proj"), c.num_attention_heads);
  const Matrix k = rotated(times(n, at + "k_proj"), c.num_key_value_heads);
  const Matrix y = attention(q, k, times(n, at + "v_proj"), window);
  return swiglu_block(sum(x, times(y, at + "o_proj")), name);
}

Matrix Handwritten::cross_block(const Matrix& x, int layer, const Matrix& k, const Matrix& v,
                                bool rope) const {
  const std::string name = "layers." + std::to_string(layer), at = name + ".cross_attn.";
  Matrix q = times(rms_norm(x, name + ".input_layernorm"), at + "q_proj");
  if (rope) q = rotated(q, c.num_attention_heads);
  return swiglu_block(sum(x, times(attention(q, k, v, 0), at + "o_proj")), name);
}

// gRet = (Q Kᵀ ⊙ D) V, then a norm of each head, swish(X W_G) ⊙ Y, W_O: eq. 5 and 8 of arXiv 2405.05254.
Matrix Handwritten::gated_retention(const Matrix& x, const std::string& name) const {
  const int heads = c.num_retention_heads, d = c.hidden_size / heads, tokens = static_cast<int>(x.size());
  const Matrix q = rotated(times(x, name + ".q_proj"), heads), k = rotated(times(x, name + ".k_proj"), heads);
  const Matrix v = times(x, name + ".v_proj"), decay = times(x, name + ".decay_proj");
  Matrix y = times(x, name + ".g_proj");
  for (int n = 0; n < tokens; n++)
    for (int h = 0; h < heads; h++) {
      Vector out(d);
      for (int m = 0; m <= n; m++) {
        double weight = 0, log_decay = 0;
        for (int i = m + 1; i <= n; i++)
          log_decay += -std::log1p(std::exp(-decay[i][h])) / c.retention_temperature;
        for (int e = 0; e < d; e++) weight += q[n][h * d + e] * k[m][h * d + e];
        weight *= std::exp(log_decay) * static_cast<float>(1 / std::sqrt(static_cast<double>(d)));
        for (int e = 0; e < d; e++) out[e] += weight * v[m][h * d + e];
      }
      double square = 0;
      for (const double element : out) square += element * element;
      const double rms = std::sqrt(square / d + eps_of(c));
      for (int e = 0; e < d; e++) y[n][h * d + e] = swish(y[n][h * d + e]) * out[e] / rms;
    }
  return times(y, name + ".o_proj");
}

Matrix Handwritten::head(const Matrix& x) const { return times(rms_norm(x, "norm"), "embed_tokens"); }

Matrix Handwritten::transformer(const std::vector<int>& text) const {
  Matrix x = embed(text);
  for (int l = 0; l < c.num_hidden_layers; l++) x = self_block(x, l, 0);
  return head(x);
}

Matrix Handwritten::yoco_u(const std::vector<int>& text, int loops) const {
  const int half = c.num_hidden_layers / 2;
  Matrix x = embed(text);
  for (int t = 0; t < loops; t++)
    for (int l = 0; l < half; l++) x = self_block(x, l, c.sliding_window.value());
  const Matrix n = rms_norm(x, "cross_kv.norm");
  const Matrix k = times(n, "cross_kv.k_proj"), v = times(n, "cross_kv.v_proj");
  for (int l = half; l < c.num_hidden_layers; l++) x = cross_block(x, l, k, v, false);
  return head(x);
}

Matrix Handwritten::yoco_with_retention(const std::vector<int>& text) const {
  const int half = c.num_hidden_layers / 2;
  Matrix x = embed(text);
  for (int l = 0; l < half; l++) {
    const std::string name = "layers." + std::to_string(l);
    const Matrix y = sum(x, gated_retention(rms_norm(x, name + ".input_layernorm"), name + ".retention"));
    x = swiglu_block(y, name);
  }
  const Matrix n = rms_norm(x, "cross_kv.norm");
  const Matrix k = rotated(times(n, "cross_kv.k_proj"), c.num_key_value_heads);
  const Matrix v = times(n, "cross_kv.v_proj");
  for (int l = half; l < c.num_hidden_layers; l++) x = cross_block(x, l, k, v, true);
  return head(x);
}

// λ (a K_0 + b K_i).
Matrix Handwritten::mixed(const Matrix& first, const Matrix& own, const std::string& name) const {
  const Vector& shares = named_.at("model." + name);
  Matrix y = own;
  for (size_t n = 0; n < y.size(); n++)
    for (size_t j = 0; j < y[n].size(); j++)
      y[n][j] = c.kv_residual_scale * (shares[0] * first[n][j] + shares[1] * own[n][j]);
  return y;
}

Matrix Handwritten::yoco_plus(const std::vector<int>& text, int loops) const {
  const int half = c.num_hidden_layers / 2;
  Matrix x = embed(text), first_k, first_v, k, v;
  for (int t = 0; t < loops; t++)
    for (int l = 0; l < half; l++) {
      const std::string name = "layers." + std::to_string(l), at = name + ".self_attn.";
      const Matrix n = rms_norm(x, name + ".input_layernorm");
      k = rotated(times(n, at + "k_proj"), c.num_key_value_heads);
      v = times(n, at + "v_proj");
      if (l == 0) first_k = k, first_v = v;
      if (l > 0) k = mixed(first_k, k, at + "key_weight"), v = mixed(first_v, v, at + "value_weight");
      const Matrix q = rotated(times(n, at + "q_proj"), c.num_attention_heads);
      x = swiglu_block(sum(x, times(attention(q, k, v, 0), at + "o_proj")), name);
    }
  for (int l = half; l < c.num_hidden_layers; l++) x = cross_block(x, l, k, v, true);
  return head(x);
}

template <class Model>
void expect_equal(const Config& config, Model model) {
  FreshRandom random;
  const Plan plan = build(config);
  const Weights weights = random_weights(plan, random.seed());
  const std::vector<int> text = random.tokens(3 * tiny_window, config.vocab_size);
  const Matrix expected = model(Handwritten(config, plan, weights), text);
  const reference::RowsOf found = all_logits(plan, weights, text);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t n = 0; n < expected.size(); n++)
    for (int j = 0; j < config.vocab_size; j++)
      ASSERT_NEAR(found.at(n)[j], expected[n][j], tolerance) << "token " << n << ", logit " << j;
}

TEST(Handwritten, TransformerEqualsTheOracle) {
  expect_equal(tiny_config("transformer"),
               [](const auto& h, const auto& text) { return h.transformer(text); });
}

TEST(Handwritten, YocoUEqualsTheOracle) {
  Config config = tiny_config("yoco-u");
  config.num_loops = 3;
  expect_equal(config, [](const auto& h, const auto& text) { return h.yoco_u(text, 3); });
}

TEST(Handwritten, YocoPlusEqualsTheOracle) {
  Config config = tiny_config("yoco-plus");
  config.num_loops = 2;
  expect_equal(config, [](const auto& h, const auto& text) { return h.yoco_plus(text, 2); });
}

TEST(Handwritten, YocoWithRetentionEqualsTheOracle) {
  Config config = tiny_config("yoco");
  config.self_mixer = Mixer::Retention;
  config.num_retention_heads = 2;
  expect_equal(config, [](const auto& h, const auto& text) { return h.yoco_with_retention(text); });
}

}  // namespace
}  // namespace onceover::test
