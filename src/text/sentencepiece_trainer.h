// Training a SentencePiece BPE model with byte fallback that gives every text back.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

namespace onceover {

struct SentencePieceTraining {
  int vocab_size = 4096;               // with the 256 bytes, <unk>, <s>, </s> and <pad>; 300 .. 1,000,000
  double character_coverage = 0.9995;  // 0.98 .. 1; characters outside become bytes
  bool split_digits = true;            // every digit its own token
  int max_piece_characters = 16;       // 1 .. 512
  int threads = 2;                     // 1 .. 128; does not change the result
};

// Gives the next stretch of text; false at the end. A stretch must be valid only until the next call.
using TextSource = std::function<bool(std::string_view& text)>;

// The bytes of a tokenizer.model. Lines are the training sentences, so no piece spans a newline; no dummy
// prefix, spaces kept. Bytes that are not UTF-8, tabs and the library's own marks (U+2581, U+2585) end a
// sentence. When the texts do not carry vocab_size pieces the model is smaller. Needs memory of some 50 times
// the text. Runs in a child process, since the library ends its process on some inputs: then, and for
// settings outside the ranges, an Error. `texts` is called in the child only: its side effects are not seen
// here.
std::string train_sentencepiece(const SentencePieceTraining& settings, const TextSource& texts);

}  // namespace onceover
