// What a SentencePiece `tokenizer.model` says, checked before the library sees it.
//
// The library trusts its files: a symbol that its trie cannot hold ends the process, a normalisation table is
// walked without bounds. So the file is parsed here, and the library is given a message written anew from
// what was checked. Accepted: BPE with byte fallback and the identity normaliser, the form of Llama, Mistral
// and Gemma, and of our own training. Refused with the reason: unigram, word and character models,
// normalisers that change the text, models without the 256 byte pieces: none of these can give every text
// back.
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

  std::vector<Piece> pieces;  // by id
  bool add_dummy_prefix = true;
  std::string bos_piece = "<s>", eos_piece = "</s>", pad_piece = "<pad>";
};

// Parses and checks; `where` names the file in errors.
SentencePieceModel parse_sentencepiece_model(std::string_view message, const std::string& where);

// Throws what parse_sentencepiece_model() would for pieces that the library or exactness cannot bear.
void check_sentencepiece_pieces(const SentencePieceModel& model, const std::string& where);

// The model as a message. The library is given it without a dummy prefix: SentencePieceTokenizer adds that.
std::string sentencepiece_message(const SentencePieceModel& model, bool dummy_prefix = false);

}  // namespace onceover
