// A SentencePiece model (Kudo and Richardson 2018) of unigrams, BPE or characters, through the sentencepiece
// library. There are two sorts.
//
// With byte fallback and without a normaliser it is exact, where the library alone is not: bytes that are not
// UTF-8 (it would make them U+FFFD) and the character U+2581 (which it uses for the space) are encoded as
// byte pieces. For all other text the ids are the library's.
//
// Any other is not exact: for every text the ids are the library's, so bytes that are not UTF-8 read as
// U+FFFD, and where there is no byte fallback a run of characters in no piece gives the unknown token, which
// decodes to nothing. decode() gives the normalised text. Where the normaliser removes spaces, each stretch
// of a text is normalised alone, and a space is put between two.
//
// A unigram model's ids come from sums over the whole text. Texts of more than 1 MiB are cut at a word, as
// are runs of more than 1024 characters in no piece, which only the rounding of the sums could show.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <unordered_set>

#include "text/prompt_encoder.h"
#include "text/sentencepiece_model.h"
#include "text/sentencepiece_normalizer.h"
#include "text/tokenizer.h"

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace onceover {

class PieceCache;

class SentencePieceTokenizer : public Tokenizer {
 public:
  // Error when the file is not such a model (sentencepiece_model.h says which are) or could harm the library.
  static SentencePieceTokenizer load(const std::filesystem::path& file);

  // From the bytes of a model file. `where` names their origin in errors.
  SentencePieceTokenizer(std::string message, const std::string& where);
  SentencePieceTokenizer(SentencePieceTokenizer&&) noexcept;
  ~SentencePieceTokenizer() override;

  int vocab_size() const override { return static_cast<int>(model_.pieces.size()); }
  using Tokenizer::encode;
  void encode(std::string_view text, TextPosition position, std::vector<int>& ids) const override;
  std::vector<int> encode_prompt(std::string_view text, std::span<const ByteSpan> input,
                                 TextPosition position) const override;
  std::string_view piece_bytes(int id) const override { return bytes_[static_cast<size_t>(require_id(id))]; }
  std::string token_name(int id) const override {
    return model_.pieces[static_cast<size_t>(require_id(id))].text;
  }
  bool adds_leading_space() const override { return model_.add_dummy_prefix; }
  bool is_exact() const override { return !normalizer_; }
  void save(const std::filesystem::path& directory) const override;
  uint64_t fingerprint() const override;

 private:
  void find_pieces();
  void encode_exactly(std::string_view text, TextPosition position, std::vector<int>& ids) const;
  void encode_normal(std::string_view text, std::vector<int>& ids) const;
  std::string shorten_unknown(std::string_view normal) const;
  void encode_clean(std::string_view text, std::vector<int>& ids) const;
  void encode_chunk(std::string_view chunk, std::vector<int>& ids) const;
  std::string_view next_chunk(std::string_view text) const;
  size_t end_of_word(std::string_view text) const;
  size_t place_to_cut(std::string_view text) const;

  std::string message_;
  SentencePieceModel model_;
  std::optional<SentencePieceNormalizer> normalizer_;  // of a model that is not exact
  std::vector<std::string> bytes_;                     // by id
  std::array<int, 256> byte_ids_{};
  int unknown_ = 0;
  std::unordered_set<char32_t> characters_;  // in pieces, if there is no byte fallback
  PromptEncoder prompts_;
  bool splits_at_space_ = true;    // no piece goes on after a non-space with a space
  bool splits_at_newline_ = true;  // no piece holds a newline and something else
  std::unique_ptr<sentencepiece::SentencePieceProcessor> processor_;
  std::unique_ptr<PieceCache> cache_;
};

}  // namespace onceover
