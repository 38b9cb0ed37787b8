// The config that a GGUF file's metadata describes.
#pragma once
#include <string>
#include <vector>

#include "architectures/config.h"
#include "gguf/gguf_file.h"

namespace onceover {

// general.architecture of those that are supported: llama, qwen2, qwen3, gptneox, gpt2. Error naming `where`
// for another or none.
std::string gguf_architecture(const GgufContents& contents, const std::string& where);

// Error naming `where` and the key for one that is missing, has another type, or is a setting of the
// architecture that is not supported: whatever stands under the architecture's name and is unknown is
// refused, since it may change the mathematics. tie_word_embeddings follows from tensors, and is the caller's
// to set.
Config config_from_gguf(const GgufContents& contents, const std::string& where);

}  // namespace onceover
