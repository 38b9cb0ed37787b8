// The model types that this project reads: a tiny random checkpoint of each, and its logits by straight
// lines.
#pragma once
#include "models/official.h"

namespace onceover {

constexpr int family_vocab = 37;

// What sets members of Llama's family apart.
struct LlamaForm {
  const char* model_type = "llama";
  int64_t hidden = 16, heads = 4, kv_heads = 2, head_dim = 4;
  bool qkv_bias = false, o_bias = false, mlp_bias = false, qk_norm = false, tied = false;
  size_t window = 0;
  straight::Vector frequencies = straight::frequencies(10000, 4);
  double rope_scale = 1;
};
Official llama(test::FreshRandom& random, const LlamaForm& form);
straight::Rows llama_logits(const straight::Tensors& t, const LlamaForm& form, const std::vector<int>& text);

Official gpt_neox(test::FreshRandom& random, bool parallel);
straight::Rows gpt_neox_logits(const straight::Tensors& t, bool parallel, const std::vector<int>& text);

// prefix: "" or "transformer.", as files of both kinds are about.
Official gpt2(test::FreshRandom& random, const std::string& prefix);
straight::Rows gpt2_logits(const straight::Tensors& t, const std::string& prefix,
                           const std::vector<int>& text);

Official ouro(test::FreshRandom& random);
straight::Rows ouro_logits(const straight::Tensors& t, const std::vector<int>& text);

// Published YOCO; window 0 = gated retention.
Official yoco(test::FreshRandom& random, size_t window);
straight::Rows yoco_logits(const straight::Tensors& t, size_t window, const std::vector<int>& text);

}  // namespace onceover
