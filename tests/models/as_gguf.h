// Checkpoints of Hugging Face's layout as GGUF files, the way llama.cpp's converter writes them: other names,
// the rotary pairs of llama side by side, fused matrices with queries, keys and values behind each other.
#pragma once
#include "models/families.h"

namespace onceover {

// general.architecture: "llama", "qwen2" or "qwen3". Llama 3's scaling is written as divisors of frequencies.
std::string llama_as_gguf(const Official& o, const LlamaForm& form, const std::string& architecture,
                          const std::vector<float>& divisors = {});
std::string gpt_neox_as_gguf(const Official& o);
std::string gpt2_as_gguf(const Official& o, const std::string& prefix);

}  // namespace onceover
