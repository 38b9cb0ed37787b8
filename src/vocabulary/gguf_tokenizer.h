// The tokeniser inside a GGUF file: keys tokenizer.ggml.*.
//
// Read: model "llama" (SentencePiece's BPE by scores) and "gpt2" (byte-level BPE by merges, cut as
// tokenizer.ggml.pre says); the types of tokens, bos, eos, eot and pad, add_bos_token and add_space_prefix.
// Others are refused by name: a guess would give wrong ids. Where `pre` is missing the architectures gpt2 and
// gptneox tell it. Source: github.com/ggml-org/ggml, docs/gguf.md.
#pragma once
#include <memory>
#include <string>

#include "gguf/gguf_file.h"
#include "text/tokenizer.h"

namespace onceover {

// Error, naming `where` and the key, for a vocabulary that is missing, not supported or wrong.
std::unique_ptr<Tokenizer> tokenizer_of_gguf(const GgufContents& contents, const std::string& where);

// tokenizer.chat_template; empty when there is none.
std::string chat_template_of_gguf(const GgufContents& contents);

}  // namespace onceover
