// A SentencePiece BPE model with byte fallback (Kudo and Richardson 2018), through the sentencepiece library.
//
// Exact where the library alone is not: bytes that are not UTF-8 (it would make them U+FFFD) and the
// character U+2581 (which it uses for the space) are encoded as byte pieces. For all other text the ids are
// the library's.
#pragma once
#include <array>
#include <memory>

#include "text/prompt_encoder.h"
#include "text/sentencepiece_model.h"
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
  void save(const std::filesystem::path& directory) const override;
  uint64_t fingerprint() const override;

 private:
  void find_pieces();
  void encode_clean(std::string_view text, std::vector<int>& ids) const;
  void encode_chunk(std::string_view chunk, std::vector<int>& ids) const;
  std::string_view next_chunk(std::string_view text) const;

  std::string message_;
  SentencePieceModel model_;
  std::vector<std::string> bytes_;  // by id
  std::array<int, 256> byte_ids_{};
  PromptEncoder prompts_;
  bool splits_at_space_ = true;    // no piece goes on after a non-space with a space
  bool splits_at_newline_ = true;  // no piece holds a newline and something else
  std::unique_ptr<sentencepiece::SentencePieceProcessor> processor_;
  std::unique_ptr<PieceCache> cache_;
};

}  // namespace onceover
