// What a SentencePiece `tokenizer.model` says, checked before the library sees it.
//
// The library trusts its files: a symbol that its trie cannot hold ends the process, a normalisation table is
// walked without bounds. So the file is parsed here, and the library is given a message written anew from
// what was checked, without a normaliser (sentencepiece_normalizer.h). Accepted: unigram, BPE and character
// models, with and without byte fallback and a normaliser. Refused with the reason: word models, spaces not
// written as U+2581 or put behind a text, and pieces that the library or exactness cannot bear.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace onceover {

struct SentencePieceModel {
  enum class Type { Normal = 1, Unknown = 2, Control = 3, UserDefined = 4, Unused = 5, Byte = 6 };
  struct Piece {
    std::string text;  // with U+2581 for a space
    float score = 0;
    Type type = Type::Normal;
  };

  enum class Kind { Unigram = 1, Bpe = 2, Character = 4 };

  Kind kind = Kind::Bpe;
  std::vector<Piece> pieces;    // by id
  bool byte_fallback = true;    // a character in no piece becomes its bytes, else the unknown piece
  bool removes_spaces = false;  // at a text's ends, and all but one of several
  bool add_dummy_prefix = true;
  std::string character_map;  // the table of character_map.h, not yet checked; empty for none
  std::string bos_piece = "<s>", eos_piece = "</s>", pad_piece = "<pad>";

  bool normalizes() const { return removes_spaces || !character_map.empty(); }
};

// Parses and checks; `where` names the file in errors.
SentencePieceModel parse_sentencepiece_model(std::string_view message, const std::string& where);

// Throws what parse_sentencepiece_model() would for pieces that the library or exactness cannot bear.
void check_sentencepiece_pieces(const SentencePieceModel& model, const std::string& where);

// The model as a message, without its normaliser. The library is given it without a dummy prefix too:
// SentencePieceTokenizer adds that.
std::string sentencepiece_message(const SentencePieceModel& model, bool dummy_prefix = false);

}  // namespace onceover
