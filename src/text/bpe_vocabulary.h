// A byte-level BPE vocabulary from elsewhere, written as the tokenizer.json that means the same.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "text/added_tokens.h"

namespace onceover {

struct BpeVocabulary {
  std::vector<std::string> tokens;                          // by id, in byte_level.h's alphabet; empty = none
  std::vector<std::pair<std::string, std::string>> merges;  // by rank
  std::vector<AddedToken> added;
  std::string split;  // a name of split_named()
  std::optional<int> bos, eos, pad;
  bool adds_bos = false;
};

// Whether text can be cut as that name says: "gpt-2", "llama-bpe", "qwen2", … as GGUF's tokenizer.ggml.pre.
bool is_known_split(const std::string& name);
std::vector<std::string> known_splits();

// The texts of tokenizer.json and tokenizer_config.json. Error, naming `where`, for an unknown split, for ids
// outside, and for texts that are not UTF-8.
struct TokenizerFiles {
  std::string tokenizer, config;
};
TokenizerFiles tokenizer_files(const BpeVocabulary& vocabulary, const std::string& where);

}  // namespace onceover
