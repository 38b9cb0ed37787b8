// Training a tokeniser on a corpus: `onceover tokenizer train`.
#pragma once
#include <cstdint>
#include <filesystem>

#include "data/corpus.h"
#include "text/sentencepiece_trainer.h"
#include "text/tokenizer.h"

namespace onceover {

struct TokenizerTraining {
  CorpusOptions corpus;
  SentencePieceTraining settings;
  // Of text to train on. A larger corpus is thinned evenly: blocks of at most 64 KiB are taken all over it.
  uint64_t max_bytes = uint64_t{64} << 20;
  std::filesystem::path output;  // a folder, created if missing
};

// Trains a SentencePiece BPE tokeniser, saves it into the output folder and returns it. Same corpus, same
// tokeniser.
std::unique_ptr<Tokenizer> train_tokenizer(const TokenizerTraining& options);

}  // namespace onceover
