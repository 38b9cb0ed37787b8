// A tokenizer.json of the Hugging Face library "tokenizers", model type BPE, read from untrusted bytes.
//
// What would mean other ids than that library's is an Error that names it: another model, normaliser,
// pre-tokeniser or decoder type, dropout, prefixes and suffixes of subwords. Of post_processor only the token
// that it puts before a text is read; truncation and padding are not.
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/added_tokens.h"
#include "text/bpe_merges.h"
#include "text/pre_tokenizer.h"
#include "text/text_normalizer.h"

namespace onceover {

struct HuggingFaceJson {
  static constexpr size_t max_bytes = size_t{256} << 20;
  static constexpr int max_holes = 1 << 16;  // ids below the largest that no token has

  std::vector<std::string> names;  // by id, as written; empty for a hole
  std::unordered_map<std::string, int> ids;
  std::vector<BpeMerges::Merge> merges;  // by rank; names[left] + names[right] == names[merged]
  std::vector<AddedToken> added;         // their ids and contents occur once
  TextNormalizer normalizer;
  PreTokenizer pre_tokenizer;
  bool ignore_merges = false;
  bool byte_fallback = false;
  std::string unknown;  // empty when there is none
  std::string first;    // what post_processor puts before a text; empty for nothing
};

HuggingFaceJson parse_huggingface_json(std::string_view text, const std::string& where);

}  // namespace onceover
