// The BPE tokenisers of Hugging Face's tokenizer.json: byte level (GPT-2, NeoX, Llama 3, Qwen 2) and
// SentencePiece's form with byte fallback (Llama 2).
//
// The ids are those of the library "tokenizers" with encode_special_tokens on, but for what that library
// cannot give back: bytes that are not UTF-8 stand as stretches of their own, outside the normaliser and the
// pre-tokeniser's pattern, one token a byte; so does the character U+2581 in texts of a model that uses it
// for the space. A byte that the vocabulary has no token for is an Error, where the library would drop it or
// write the unknown token.
//
// is_exact() says whether texts come back as they were: not where the normaliser changes text (NFC, NFKC,
// Replace, Prepend of anything but a space's mark), where ByteLevel puts a space before a text, where Split
// removes, or where an added token takes white space with it. There encode() gives the ids of the changed
// text, and decode() gives that.
#pragma once
#include <array>
#include <memory>
#include <unordered_map>

#include "text/added_tokens.h"
#include "text/bpe_merges.h"
#include "text/huggingface_json.h"
#include "text/prompt_encoder.h"
#include "text/tokenizer.h"

namespace onceover {

class PieceCache;

class HuggingFaceTokenizer : public Tokenizer {
 public:
  // Reads tokenizer.json, and the names of the specials from tokenizer_config.json beside it, if there.
  static HuggingFaceTokenizer load(const std::filesystem::path& file);

  // From the bytes of both files; `config` is empty when there is none. `where` names the first in errors.
  HuggingFaceTokenizer(std::string json, std::string config, const std::string& where);
  HuggingFaceTokenizer(HuggingFaceTokenizer&&) noexcept;
  ~HuggingFaceTokenizer() override;

  int vocab_size() const override { return static_cast<int>(file_.names.size()); }
  using Tokenizer::encode;
  void encode(std::string_view text, TextPosition position, std::vector<int>& ids) const override;
  std::vector<int> encode_prompt(std::string_view text, std::span<const ByteSpan> input,
                                 TextPosition position = TextPosition::Start) const override;
  std::string_view piece_bytes(int id) const override { return bytes_[static_cast<size_t>(require_id(id))]; }
  std::string token_name(int id) const override;
  bool adds_leading_space() const override { return marks_spaces_ && file_.normalizer.prepends(); }
  bool is_exact() const override { return is_exact_; }
  void save(const std::filesystem::path& directory) const override;
  uint64_t fingerprint() const override;

 private:
  void find_specials(const std::string& config, const std::string& where);
  void mark_special(const std::string& name, const std::string& where);
  void find_bytes();
  void find_symbols(const std::string& where);
  void find_byte_tokens(const std::string& where);
  void check_merges(const std::string& where) const;
  bool find_exactness() const;
  std::string spaced(std::string_view text) const;
  std::string plain_bytes(const std::string& name) const;

  void encode_stretches(const std::vector<AddedTokenFinder::Stretch>& stretches, bool prefix,
                        std::vector<int>& ids) const;
  void encode_fragment(std::string_view text, bool prefix, std::vector<int>& ids) const;
  void encode_clean(std::string_view text, bool prefix, std::vector<int>& ids) const;
  void encode_stretch(std::string_view text, std::vector<int>& ids) const;
  void encode_word(std::string_view word, std::vector<int>& ids) const;
  void append_symbols(std::string_view word, std::vector<int>& ids) const;
  int byte_id(char byte) const;
  size_t clean_bytes(std::string_view text) const;

  std::string json_, config_;
  HuggingFaceJson file_;
  bool byte_level_ = false;
  bool marks_spaces_ = false;     // "▁" stands for the space
  bool splits_at_space_ = false;  // no merge goes on after another character with "▁"
  bool is_exact_ = false;
  std::vector<std::string> bytes_;                // by id
  std::array<int, 256> byte_ids_{};               // -1 = no token
  std::unordered_map<char32_t, int> characters_;  // tokens of one character; with byte fallback only
  std::unordered_map<std::string, int> words_;    // with ignore_merges only
  BpeMerges merges_;
  AddedTokenFinder raw_finder_, normalized_finder_;
  PromptEncoder prompts_;
  std::unique_ptr<PieceCache> cache_;
};

}  // namespace onceover
