// The tokenizer.bin of llama2.c: u32 length of the longest token; then for each token, up to the file's end,
// f32 score, i32 length and the bytes. Little-endian.
//
// It is a SentencePiece vocabulary of Llama's form, in which the space is written as itself: 0 is <unk>, 1
// and 2 are <s> and </s> with newlines around them, then the 256 bytes, then pieces. <s> parts the texts of
// its models' training data, so it ends a text, too.
#pragma once
#include <string>
#include <string_view>

#include "text/sentencepiece_tokenizer.h"

namespace onceover {

constexpr size_t max_llama2c_bytes = size_t{64} << 20;

// Error, naming `where`, for anything else.
SentencePieceTokenizer tokenizer_of_llama2c(std::string_view file, const std::string& where);

}  // namespace onceover
