#include "models/as_gguf.h"

#include "support/gguf_writer.h"

namespace onceover {
namespace {

using straight::Tensor;

class Writer {
 public:
  explicit Writer(const std::string& architecture) : prefix_(architecture + ".") {
    file_.value("general.architecture", 8, gguf_string(architecture));
  }
  void number(const std::string& key, int64_t value) {
    file_.value(prefix_ + key, 4, little_endian(static_cast<uint32_t>(value)));
  }
  void real(const std::string& key, double value) {
    file_.value(prefix_ + key, 6, little_endian(static_cast<float>(value)));
  }
  void truth(const std::string& key, bool value) {
    file_.value(prefix_ + key, 7, std::string(1, value ? '\1' : '\0'));
  }
  void tensor(const std::string& name, const Tensor& t) {
    const std::string bytes(reinterpret_cast<const char*>(t.numbers.data()),
                            t.numbers.size() * sizeof(float));
    const auto extent = [&](size_t i) { return static_cast<uint64_t>(t.shape[i]); };
    if (t.shape.size() == 1) {
      file_.tensor(name, {extent(0)}, 0, bytes);
    } else {
      file_.tensor(name, {extent(1), extent(0)}, 0, bytes);
    }
  }
  // The weight of these names, and the bias if there is one, with their rows in another order.
  using Order = std::function<int64_t(int64_t row)>;
  void move(const Official& o, const std::string& from, const std::string& to,
            const Order& stored_from = {}) {
    for (const char* part : {".weight", ".bias"}) {
      const auto found = o.tensors.all.find(from + part);
      if (found == o.tensors.all.end()) continue;
      Tensor t = found->second;
      const int64_t columns = t.shape.size() == 2 ? t.shape[1] : 1;
      for (int64_t row = 0; stored_from && row < t.shape[0]; row++)
        for (int64_t c = 0; c < columns; c++)
          t.numbers[row * columns + c] = found->second.numbers[stored_from(row) * columns + c];
      tensor(to + part, t);
    }
  }
  void move_transposed(const Official& o, const std::string& from, const std::string& to) {
    const Tensor& in = o.tensors.all.at(from + ".weight");
    Tensor t{{in.shape[1], in.shape[0]}, in.numbers};
    for (int64_t r = 0; r < t.shape[0]; r++)
      for (int64_t c = 0; c < t.shape[1]; c++) t.numbers[r * t.shape[1] + c] = in.numbers[c * t.shape[0] + r];
    tensor(to + ".weight", t);
    tensor(to + ".bias", o.tensors.all.at(from + ".bias"));
  }
  std::string file() const { return file_.file(); }

 private:
  std::string prefix_;
  GgufWriter file_;
};

}  // namespace

std::string llama_as_gguf(const Official& o, const LlamaForm& f, const std::string& architecture,
                          const std::vector<float>& divisors) {
  Writer w(architecture);
  w.number("context_length", 64);
  w.number("embedding_length", f.hidden);
  w.number("block_count", 2);
  w.number("feed_forward_length", 24);
  w.number("attention.head_count", f.heads);
  w.number("attention.head_count_kv", f.kv_heads);
  w.number("attention.key_length", f.head_dim);
  w.number("attention.value_length", f.head_dim);
  w.number("rope.dimension_count", f.head_dim);
  w.number("vocab_size", family_vocab);
  w.real("attention.layer_norm_rms_epsilon", 1e-5);
  w.real("rope.freq_base", 10000);
  const int64_t d = f.head_dim;
  // Row j of the first half becomes 2j, of the second 2j + 1.
  const Writer::Order pairs = [d](int64_t row) { return row / d * d + row % 2 * (d / 2) + row % d / 2; };
  const Writer::Order order = architecture == "llama" ? pairs : Writer::Order();
  w.move(o, "model.embed_tokens", "token_embd");
  w.move(o, "model.norm", "output_norm");
  w.move(o, "lm_head", "output");
  if (!divisors.empty()) w.tensor("rope_freqs.weight", {{static_cast<int64_t>(divisors.size())}, divisors});
  for (int l = 0; l < 2; l++) {
    const std::string from = fmt::format("model.layers.{}.", l), to = fmt::format("blk.{}.", l);
    w.move(o, from + "input_layernorm", to + "attn_norm");
    w.move(o, from + "post_attention_layernorm", to + "ffn_norm");
    w.move(o, from + "self_attn.q_proj", to + "attn_q", order);
    w.move(o, from + "self_attn.k_proj", to + "attn_k", order);
    w.move(o, from + "self_attn.v_proj", to + "attn_v");
    w.move(o, from + "self_attn.o_proj", to + "attn_output");
    w.move(o, from + "self_attn.q_norm", to + "attn_q_norm");
    w.move(o, from + "self_attn.k_norm", to + "attn_k_norm");
    w.move(o, from + "mlp.gate_proj", to + "ffn_gate");
    w.move(o, from + "mlp.up_proj", to + "ffn_up");
    w.move(o, from + "mlp.down_proj", to + "ffn_down");
  }
  return w.file();
}

std::string gpt_neox_as_gguf(const Official& o) {
  const int64_t hidden = o.config["hidden_size"], heads = o.config["num_attention_heads"], d = hidden / heads;
  Writer w("gptneox");
  w.number("context_length", 64);
  w.number("embedding_length", hidden);
  w.number("block_count", 2);
  w.number("feed_forward_length", 24);
  w.number("attention.head_count", heads);
  w.number("rope.dimension_count", d / 4);
  w.truth("use_parallel_residual", o.config["use_parallel_residual"]);
  w.real("attention.layer_norm_epsilon", 1e-5);
  w.real("rope.freq_base", 100);
  // All queries, then all keys, then all values.
  const Writer::Order order = [=](int64_t row) {
    const int64_t part = row / hidden, head = row % hidden / d;
    return head * 3 * d + part * d + row % d;
  };
  w.move(o, "gpt_neox.embed_in", "token_embd");
  w.move(o, "gpt_neox.final_layer_norm", "output_norm");
  w.move(o, "embed_out", "output");
  for (int l = 0; l < 2; l++) {
    const std::string from = fmt::format("gpt_neox.layers.{}.", l), to = fmt::format("blk.{}.", l);
    w.move(o, from + "input_layernorm", to + "attn_norm");
    w.move(o, from + "post_attention_layernorm", to + "ffn_norm");
    w.move(o, from + "attention.query_key_value", to + "attn_qkv", order);
    w.move(o, from + "attention.dense", to + "attn_output");
    w.move(o, from + "mlp.dense_h_to_4h", to + "ffn_up");
    w.move(o, from + "mlp.dense_4h_to_h", to + "ffn_down");
  }
  return w.file();
}

std::string gpt2_as_gguf(const Official& o, const std::string& prefix) {
  Writer w("gpt2");
  w.number("context_length", 32);
  w.number("embedding_length", 16);
  w.number("block_count", 2);
  w.number("feed_forward_length", 64);
  w.number("attention.head_count", 4);
  w.real("attention.layer_norm_epsilon", 1e-5);
  w.move(o, prefix + "wte", "token_embd");
  w.move(o, prefix + "wpe", "position_embd");
  w.move(o, prefix + "ln_f", "output_norm");
  w.move(o, prefix + "wte", "output");  // the table once more
  for (int l = 0; l < 2; l++) {
    const std::string from = prefix + fmt::format("h.{}.", l), to = fmt::format("blk.{}.", l);
    w.move(o, from + "ln_1", to + "attn_norm");
    w.move(o, from + "ln_2", to + "ffn_norm");
    w.move_transposed(o, from + "attn.c_attn", to + "attn_qkv");
    w.move_transposed(o, from + "attn.c_proj", to + "attn_output");
    w.move_transposed(o, from + "mlp.c_fc", to + "ffn_up");
    w.move_transposed(o, from + "mlp.c_proj", to + "ffn_down");
  }
  return w.file();
}

}  // namespace onceover
