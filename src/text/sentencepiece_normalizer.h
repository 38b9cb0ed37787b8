// What a SentencePiece model does to a text before it is cut into pieces: characters replaced by its table
// (nmt_nfkc and others), spaces removed at the ends and where several stand together, a space put before.
//
// As in the library, but for tables that it would walk without bounds (character_map.h). Why not the
// library's: it has no call for this alone, and would put the space before every stretch of a text or none.
// Safe to use from several threads.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "text/character_map.h"
#include "text/sentencepiece_model.h"

namespace onceover {

class SentencePieceNormalizer {
 public:
  // Error when the model's table could do harm.
  SentencePieceNormalizer(const SentencePieceModel& model, const std::string& where);

  // The text as the model cuts it, valid UTF-8, with ' ' for a space where the model has U+2581, which is a
  // space here too. Each byte that is no part of a character gives U+FFFD. `prefix`: a space is put before,
  // unless nothing would stand behind it.
  std::string apply(std::string_view text, bool prefix) const;

 private:
  struct Step {
    size_t bytes;           // of the text
    std::string_view text;  // what they become
  };
  Step next(std::string_view text) const;
  size_t symbol_bytes(std::string_view text) const;

  CharacterMap map_;
  std::vector<std::string> symbols_;  // user-defined, sorted; they stay as they are
  bool removes_spaces_;
};

}  // namespace onceover
