// Rank files of the library tiktoken: a line for each token, its bytes in base64, a space, its rank.
//
// The rank is the id, and the order of merging: of all neighbours that make a token, those of the lowest rank
// are merged first. The file says neither how text is cut nor the special tokens; the number of ranks tells
// them for the files known here: r50k (GPT-2), p50k, cl100k, o200k (tiktoken_ext/openai_public.py of
// github.com/openai/tiktoken), Llama 3, Qwen.
#pragma once
#include <string>
#include <string_view>

#include "text/huggingface_tokenizer.h"

namespace onceover {

constexpr size_t max_tiktoken_bytes = size_t{16} << 20;

// Error, naming `where` and the line, for anything else. `split` is a name of bpe_vocabulary.h, for a file
// that the number of its ranks does not tell; empty to go by the number.
HuggingFaceTokenizer tokenizer_of_tiktoken(std::string_view file, const std::string& split,
                                           const std::string& where);

}  // namespace onceover
