// A tokeniser from a path, whatever its format.
#pragma once
#include <filesystem>
#include <memory>

#include "text/tokenizer.h"

namespace onceover {

// A folder (load_tokenizer()), or a file: tokenizer.json, SentencePiece's .model, .gguf, .tiktoken, or
// llama2.c's .bin. Error, with what the file looks like, for anything else.
std::unique_ptr<Tokenizer> open_tokenizer(const std::filesystem::path& path);

}  // namespace onceover
