#include "models/families.h"

namespace onceover {
namespace {

using Matrix = straight::Rows;
using straight::Tensors;

constexpr int64_t ffn = 24;
constexpr int layers = 2;

std::string at(const char* pattern, int layer) { return fmt::format(fmt::runtime(pattern), layer); }

}  // namespace

Official llama(test::FreshRandom& random, const LlamaForm& f) {
  Official o(random);
  o.config = {{"model_type", f.model_type},
              {"vocab_size", family_vocab},
              {"hidden_size", f.hidden},
              {"intermediate_size", ffn},
              {"num_hidden_layers", layers},
              {"num_attention_heads", f.heads},
              {"num_key_value_heads", f.kv_heads},
              {"head_dim", f.head_dim},
              {"max_position_embeddings", 64},
              {"rms_norm_eps", 1e-5},
              {"rope_theta", 10000.0},
              {"tie_word_embeddings", f.tied},
              {"hidden_act", "silu"},
              {"attention_dropout", 0.1},
              {"bos_token_id", 1},
              {"eos_token_id", 2},
              {"torch_dtype", "float32"},
              {"some_key_of_bookkeeping", 7}};
  const auto linear = [&](const std::string& name, int64_t out, int64_t in, bool bias) {
    bias ? o.biased(name, out, in) : o.matrix(name, out, in);
  };
  o.matrix("model.embed_tokens", family_vocab, f.hidden);
  if (!f.tied) o.matrix("lm_head", family_vocab, f.hidden);
  o.norm("model.norm", f.hidden);
  for (int l = 0; l < layers; l++) {
    const std::string p = at("model.layers.{}.", l);
    o.norm(p + "input_layernorm", f.hidden);
    o.norm(p + "post_attention_layernorm", f.hidden);
    linear(p + "self_attn.q_proj", f.heads * f.head_dim, f.hidden, f.qkv_bias);
    linear(p + "self_attn.k_proj", f.kv_heads * f.head_dim, f.hidden, f.qkv_bias);
    linear(p + "self_attn.v_proj", f.kv_heads * f.head_dim, f.hidden, f.qkv_bias);
    linear(p + "self_attn.o_proj", f.hidden, f.heads * f.head_dim, f.o_bias);
    if (f.qk_norm) o.norm(p + "self_attn.q_norm", f.head_dim);
    if (f.qk_norm) o.norm(p + "self_attn.k_norm", f.head_dim);
    linear(p + "mlp.gate_proj", ffn, f.hidden, f.mlp_bias);
    linear(p + "mlp.up_proj", ffn, f.hidden, f.mlp_bias);
    linear(p + "mlp.down_proj", f.hidden, ffn, f.mlp_bias);
  }
  return o;
}

Matrix llama_logits(const Tensors& t, const LlamaForm& f, const std::vector<int>& text) {
  constexpr double eps = 1e-5;
  const auto dim = static_cast<size_t>(f.head_dim);
  // Qwen3: every head is normed by itself, then turned.
  const auto turned = [&](Matrix x, const std::string& norm) {
    for (straight::Vector& row : x) {
      for (size_t head = 0; f.qk_norm && head < row.size(); head += dim) {
        const Matrix part = t.rms(straight::columns({row}, head, dim), norm, eps);
        for (size_t e = 0; e < dim; e++) row[head + e] = part[0][e];
      }
    }
    return straight::rotate(std::move(x), dim, f.frequencies, false, f.rope_scale);
  };
  Matrix x = t.embed(text, "model.embed_tokens");
  for (int l = 0; l < layers; l++) {
    const std::string p = at("model.layers.{}.", l), a = p + "self_attn.";
    Matrix n = t.rms(x, p + "input_layernorm", eps);
    const Matrix q = turned(t.linear(n, a + "q_proj"), a + "q_norm"),
                 k = turned(t.linear(n, a + "k_proj"), a + "k_norm");
    const Matrix mixed = straight::attention(q, k, t.linear(n, a + "v_proj"), dim, f.window);
    x = straight::plus(x, t.linear(mixed, a + "o_proj"));
    n = t.rms(x, p + "post_attention_layernorm", eps);
    const Matrix inner = straight::gated(t.linear(n, p + "mlp.gate_proj"), t.linear(n, p + "mlp.up_proj"));
    x = straight::plus(x, t.linear(inner, p + "mlp.down_proj"));
  }
  return t.linear(t.rms(x, "model.norm", eps), f.tied ? "model.embed_tokens" : "lm_head");
}

namespace {

constexpr int64_t neox_hidden = 24, neox_heads = 3, neox_dim = 8;

}  // namespace

Official gpt_neox(test::FreshRandom& random, bool parallel) {
  Official o(random);
  o.config = {{"model_type", "gpt_neox"},
              {"vocab_size", family_vocab},
              {"hidden_size", neox_hidden},
              {"intermediate_size", ffn},
              {"num_hidden_layers", layers},
              {"num_attention_heads", neox_heads},
              {"max_position_embeddings", 64},
              {"layer_norm_eps", 1e-5},
              {"rotary_pct", 0.25},
              {"rotary_emb_base", 100},
              {"hidden_act", "gelu"},
              {"use_parallel_residual", parallel},
              {"tie_word_embeddings", false},
              {"bos_token_id", 0},
              {"eos_token_id", 0},
              {"architectures", {"GPTNeoXForCausalLM"}}};
  o.matrix("gpt_neox.embed_in", family_vocab, neox_hidden);
  o.matrix("embed_out", family_vocab, neox_hidden);
  o.layer_norm("gpt_neox.final_layer_norm", neox_hidden);
  for (int l = 0; l < layers; l++) {
    const std::string p = at("gpt_neox.layers.{}.", l);
    o.layer_norm(p + "input_layernorm", neox_hidden);
    o.layer_norm(p + "post_attention_layernorm", neox_hidden);
    o.biased(p + "attention.query_key_value", 3 * neox_hidden, neox_hidden);
    o.biased(p + "attention.dense", neox_hidden, neox_hidden);
    o.biased(p + "mlp.dense_h_to_4h", ffn, neox_hidden);
    o.biased(p + "mlp.dense_4h_to_h", neox_hidden, ffn);
    o.bias(p + "attention", 4);  // the mask that old files keep
    o.tensors.all[p + "attention.rotary_emb.inv_freq"] = {{1}, {1}};
  }
  return o;
}

Matrix gpt_neox_logits(const Tensors& t, bool parallel, const std::vector<int>& text) {
  constexpr double eps = 1e-5;
  constexpr size_t d = neox_dim;
  const straight::Vector frequencies = {1};  // a quarter of 8 dims: one pair
  Matrix x = t.embed(text, "gpt_neox.embed_in");
  for (int l = 0; l < layers; l++) {
    const std::string p = at("gpt_neox.layers.{}.", l);
    const Matrix fused =
        t.linear(t.layer_norm(x, p + "input_layernorm", eps), p + "attention.query_key_value");
    // Head by head: its query, its key, its value.
    const auto part = [&](size_t which) {
      Matrix y(fused.size());
      for (size_t n = 0; n < fused.size(); n++)
        for (size_t h = 0; h < neox_heads; h++)
          for (size_t e = 0; e < d; e++) y[n].push_back(fused[n][h * 3 * d + which * d + e]);
      return y;
    };
    const Matrix mixed = t.linear(straight::attention(straight::rotate(part(0), d, frequencies),
                                                      straight::rotate(part(1), d, frequencies), part(2), d),
                                  p + "attention.dense");
    const auto mlp = [&](const Matrix& in) {
      const Matrix inner = straight::map(
          t.linear(t.layer_norm(in, p + "post_attention_layernorm", eps), p + "mlp.dense_h_to_4h"),
          straight::gelu);
      return t.linear(inner, p + "mlp.dense_4h_to_h");
    };
    if (parallel) {
      x = straight::plus(straight::plus(mlp(x), mixed), x);
    } else {
      x = straight::plus(x, mixed);
      x = straight::plus(x, mlp(x));
    }
  }
  return t.linear(t.layer_norm(x, "gpt_neox.final_layer_norm", eps), "embed_out");
}

Official gpt2(test::FreshRandom& random, const std::string& prefix) {
  constexpr int64_t d = 16;
  Official o(random);
  o.config = {{"model_type", "gpt2"},
              {"vocab_size", family_vocab},
              {"n_embd", d},
              {"n_layer", layers},
              {"n_head", 4},
              {"n_positions", 32},
              {"n_ctx", 32},
              {"layer_norm_epsilon", 1e-5},
              {"activation_function", "gelu_new"},
              {"attn_pdrop", 0.1},
              {"summary_type", "cls_index"},
              {"bos_token_id", 1},
              {"eos_token_id", 1},
              {"architectures", {"GPT2LMHeadModel"}}};
  o.matrix(prefix + "wte", family_vocab, d);
  o.matrix(prefix + "wpe", 32, d);
  o.layer_norm(prefix + "ln_f", d);
  // Stored as [in, out].
  const auto conv1d = [&](const std::string& name, int64_t in, int64_t out) {
    o.matrix(name, in, out);
    o.bias(name, out);
  };
  for (int l = 0; l < layers; l++) {
    const std::string p = prefix + at("h.{}.", l);
    o.layer_norm(p + "ln_1", d);
    o.layer_norm(p + "ln_2", d);
    conv1d(p + "attn.c_attn", d, 3 * d);
    conv1d(p + "attn.c_proj", d, d);
    conv1d(p + "mlp.c_fc", d, 4 * d);
    conv1d(p + "mlp.c_proj", 4 * d, d);
    o.bias(p + "attn", 4);  // the mask
  }
  return o;
}

Matrix gpt2_logits(const Tensors& t, const std::string& prefix, const std::vector<int>& text) {
  constexpr double eps = 1e-5;
  constexpr size_t d = 16;
  std::vector<int> positions;
  for (size_t n = 0; n < text.size(); n++) positions.push_back(static_cast<int>(n));
  Matrix x = straight::plus(t.embed(text, prefix + "wte"), t.embed(positions, prefix + "wpe"));
  for (int l = 0; l < layers; l++) {
    const std::string p = prefix + at("h.{}.", l);
    const Matrix fused = t.conv1d(t.layer_norm(x, p + "ln_1", eps), p + "attn.c_attn");
    const auto part = [&](size_t which) { return straight::columns(fused, which * d, d); };
    x = straight::plus(x, t.conv1d(straight::attention(part(0), part(1), part(2), 4), p + "attn.c_proj"));
    const Matrix inner =
        straight::map(t.conv1d(t.layer_norm(x, p + "ln_2", eps), p + "mlp.c_fc"), straight::gelu_new);
    x = straight::plus(x, t.conv1d(inner, p + "mlp.c_proj"));
  }
  return t.linear(t.layer_norm(x, prefix + "ln_f", eps), prefix + "wte");
}

Official ouro(test::FreshRandom& random) {
  LlamaForm form;
  form.model_type = "ouro";
  Official o = llama(random, form);
  o.config["total_ut_steps"] = 3;
  o.config["early_exit_threshold"] = 1.0;
  o.config["use_sliding_window"] = false;
  o.config["architectures"] = {"OuroForCausalLM"};
  o.config["auto_map"] = {{"AutoConfig", "configuration_ouro.OuroConfig"}};
  for (int l = 0; l < layers; l++) {
    o.norm(at("model.layers.{}.input_layernorm_2", l), form.hidden);
    o.norm(at("model.layers.{}.post_attention_layernorm_2", l), form.hidden);
  }
  o.biased("model.early_exit_gate", 1, form.hidden);
  return o;
}

Matrix ouro_logits(const Tensors& t, const std::vector<int>& text) {
  constexpr double eps = 1e-5;
  const LlamaForm f;
  Matrix x = t.embed(text, "model.embed_tokens");
  for (int loop = 0; loop < 3; loop++) {
    for (int l = 0; l < layers; l++) {
      const std::string p = at("model.layers.{}.", l), a = p + "self_attn.";
      Matrix n = t.rms(x, p + "input_layernorm", eps);
      const Matrix mixed = straight::attention(straight::rotate(t.linear(n, a + "q_proj"), 4, f.frequencies),
                                               straight::rotate(t.linear(n, a + "k_proj"), 4, f.frequencies),
                                               t.linear(n, a + "v_proj"), 4);
      x = straight::plus(x, t.rms(t.linear(mixed, a + "o_proj"), p + "input_layernorm_2", eps));
      n = t.rms(x, p + "post_attention_layernorm", eps);
      const Matrix inner = straight::gated(t.linear(n, p + "mlp.gate_proj"), t.linear(n, p + "mlp.up_proj"));
      x = straight::plus(x,
                         t.rms(t.linear(inner, p + "mlp.down_proj"), p + "post_attention_layernorm_2", eps));
    }
    x = t.rms(x, "model.norm", eps);
  }
  return t.linear(x, "lm_head");
}

namespace {

constexpr int64_t yoco_dim = 16, yoco_self_heads = 2, yoco_heads = 4, yoco_kv_heads = 2;

// 1 / theta^linspace(0, 1, pairs).
straight::Vector linspace_frequencies(double theta, size_t pairs) {
  straight::Vector f;
  for (size_t j = 0; j < pairs; j++)
    f.push_back(1 / std::pow(theta, static_cast<double>(j) / static_cast<double>(pairs - 1)));
  return f;
}

Matrix retention(const Tensors& t, const Matrix& n, const std::string& m) {
  constexpr size_t d = yoco_dim / yoco_self_heads;
  const straight::Vector f = linspace_frequencies(10000, d / 2);
  const Matrix q = straight::rotate(t.linear(n, m + "q_proj"), d, f, true);
  const Matrix k = straight::rotate(t.linear(n, m + "k_proj"), d, f, true);
  const Matrix v = t.linear(n, m + "v_proj"), decay = t.linear(n, m + "gt_proj");
  Matrix y(n.size(), straight::Vector(yoco_dim));
  for (size_t h = 0; h < yoco_self_heads; h++) {
    std::vector<straight::Vector> state(d, straight::Vector(d));
    for (size_t i = 0; i < n.size(); i++) {
      const double gamma = std::exp(-std::log1p(std::exp(-decay[i][h])) / 16);
      double squares = 0;
      for (size_t a = 0; a < d; a++)
        for (size_t b = 0; b < d; b++) {
          state[a][b] =
              gamma * state[a][b] + k[i][h * d + a] / std::sqrt(static_cast<double>(d)) * v[i][h * d + b];
          y[i][h * d + b] += q[i][h * d + a] * state[a][b];
        }
      for (size_t b = 0; b < d; b++) squares += std::pow(y[i][h * d + b], 2) / static_cast<double>(d);
      for (size_t b = 0; b < d; b++) y[i][h * d + b] /= std::sqrt(squares + 1e-5);
    }
  }
  return t.linear(straight::gated(t.linear(n, m + "g_proj"), y), m + "out_proj");
}

}  // namespace

Official yoco(test::FreshRandom& random, size_t window) {
  Official o(random);
  o.config = {{"dim", yoco_dim},
              {"n_layers", 2 * layers},
              {"hidden_dim", ffn},
              {"n_self_heads", yoco_self_heads},
              {"n_attn_heads", yoco_heads},
              {"n_attn_kv_heads", yoco_kv_heads},
              {"vocab_size", family_vocab},
              {"max_seq_len", 64},
              {"rope_theta", 10000.0},
              {"norm_eps", 1e-5}};
  if (window > 0) o.config["sliding_window"] = window;
  const auto square = [&](const std::string& name) { o.matrix(name, yoco_dim, yoco_dim); };
  const auto layer = [&](const std::string& p, bool self) {
    for (const char* norm : {"mixer_layer_norm", "final_layer_norm"}) o.norm(p + norm, yoco_dim);
    square(p + "mixer.q_proj");
    square(p + "mixer.out_proj");
    if (self) square(p + "mixer.k_proj");
    if (self) square(p + "mixer.v_proj");
    if (self && window == 0) square(p + "mixer.g_proj");
    if (self && window == 0) o.matrix(p + "mixer.gt_proj", yoco_self_heads, yoco_dim);
    o.matrix(p + "ffn.fc1", ffn, yoco_dim);
    o.matrix(p + "ffn.gate", ffn, yoco_dim);
    o.matrix(p + "ffn.fc2", yoco_dim, ffn);
  };
  o.matrix("embed_tokens", family_vocab, yoco_dim);
  o.matrix("output_projection", family_vocab, yoco_dim);
  o.norm("layer_norm", yoco_dim);
  o.norm("cross_decoder.kv_layer_norm", yoco_dim);
  for (const char* name : {"cross_decoder.k_proj", "cross_decoder.v_proj"})
    o.matrix(name, yoco_dim / yoco_heads * yoco_kv_heads, yoco_dim);
  for (int l = 0; l < layers; l++) {
    layer(at("self_decoder.layers.{}.", l), true);
    layer(at("cross_decoder.layers.{}.", l), false);
  }
  return o;
}

Matrix yoco_logits(const Tensors& t, size_t window, const std::vector<int>& text) {
  constexpr double eps = 1e-5;
  const auto feed_forward = [&](const Matrix& x, const std::string& p) {
    const Matrix n = t.rms(x, p + "final_layer_norm", eps);
    return straight::plus(
        x, t.linear(straight::gated(t.linear(n, p + "ffn.fc1"), t.linear(n, p + "ffn.gate")), p + "ffn.fc2"));
  };
  constexpr size_t self_dim = yoco_dim / yoco_self_heads, dim = yoco_dim / yoco_heads;
  const straight::Vector self_f = linspace_frequencies(10000, self_dim / 2),
                         f = linspace_frequencies(10000, dim / 2);
  Matrix x = t.embed(text, "embed_tokens", std::sqrt(static_cast<double>(yoco_dim)));
  for (int l = 0; l < layers; l++) {
    const std::string p = at("self_decoder.layers.{}.", l), m = p + "mixer.";
    const Matrix n = t.rms(x, p + "mixer_layer_norm", eps);
    if (window == 0) {
      x = straight::plus(x, retention(t, n, m));
    } else {
      const Matrix mixed =
          straight::attention(straight::rotate(t.linear(n, m + "q_proj"), self_dim, self_f, true),
                              straight::rotate(t.linear(n, m + "k_proj"), self_dim, self_f, true),
                              t.linear(n, m + "v_proj"), self_dim, window);
      x = straight::plus(x, t.linear(mixed, m + "out_proj"));
    }
    x = feed_forward(x, p);
  }
  const Matrix shared = t.rms(x, "cross_decoder.kv_layer_norm", eps);
  const Matrix k = straight::rotate(t.linear(shared, "cross_decoder.k_proj"), dim, f, true);
  const Matrix v = t.linear(shared, "cross_decoder.v_proj");
  for (int l = 0; l < layers; l++) {
    const std::string p = at("cross_decoder.layers.{}.", l);
    const Matrix n = t.rms(x, p + "mixer_layer_norm", eps);
    const Matrix q = straight::rotate(t.linear(n, p + "mixer.q_proj"), dim, f, true);
    x = feed_forward(straight::plus(x, t.linear(straight::attention(q, k, v, dim), p + "mixer.out_proj")), p);
  }
  return t.linear(t.rms(x, "layer_norm", eps), "output_projection");
}

}  // namespace onceover
