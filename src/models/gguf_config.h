// The config that a GGUF file's metadata describes.
#pragma once
#include <string>

#include "architectures/config.h"
#include "gguf/gguf_file.h"

namespace onceover {

// Whether rotary pairs lie side by side (2j, 2j + 1) in the rows of queries and keys: converters turn llama's
// that way and leave the others as they are. Error naming `where` for a general.architecture that is not
// supported.
bool has_rotary_pairs_together(const GgufContents& contents, const std::string& where);

// Of general.architecture llama, qwen2, qwen3, gptneox or gpt2. Error naming `where` for another, and for a
// key that is missing, has another type, or is a setting of the architecture that is not supported: whatever
// stands under the architecture's name and is unknown is refused, since it may change the mathematics.
// tie_word_embeddings follows from tensors, and is the caller's to set.
Config config_from_gguf(const GgufContents& contents, const std::string& where);

}  // namespace onceover
