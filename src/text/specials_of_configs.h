// What a model's own configuration says of its special tokens.
#pragma once
#include <filesystem>

#include "text/tokenizer.h"

namespace onceover {

// Reads bos_token_id and eos_token_id (a number or a list) of generation_config.json, else of config.json, in
// `directory`: bos and eos where the tokeniser's files name none, and everything that ends an answer. Ids
// beyond the vocabulary, which cannot be drawn, are left out. Error for a file that is not JSON.
void add_specials_of_configs(const std::filesystem::path& directory, int vocab_size, SpecialTokens& specials);

// add_bos_token of tokenizer_config.json in `directory`; true where nothing says it. Error for a file that is
// not JSON.
bool adds_bos_by_config(const std::filesystem::path& directory);

}  // namespace onceover
