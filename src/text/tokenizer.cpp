#include "text/tokenizer.h"

#include <algorithm>

#include "base/error.h"
#include "text/byte_tokenizer.h"
#include "text/huggingface_tokenizer.h"
#include "text/sentencepiece_tokenizer.h"
#include "text/specials_of_configs.h"

namespace onceover {
namespace {

std::unique_ptr<Tokenizer> sentencepiece_in(const std::filesystem::path& directory,
                                            const std::filesystem::path& model) {
  auto tokenizer = std::make_unique<SentencePieceTokenizer>(SentencePieceTokenizer::load(model));
  SpecialTokens specials = tokenizer->specials();
  specials.adds_bos = adds_bos_by_config(directory);
  tokenizer->set_specials(std::move(specials));
  return tokenizer;
}

std::unique_ptr<Tokenizer> tokenizer_in(const std::filesystem::path& directory) {
  const auto model = directory / "tokenizer.model";
  const auto json = directory / "tokenizer.json";
  std::error_code unreadable;
  if (std::filesystem::exists(model, unreadable)) return sentencepiece_in(directory, model);
  if (std::filesystem::exists(json, unreadable)) {
    if (ByteTokenizer::wrote(json)) return std::make_unique<ByteTokenizer>(ByteTokenizer::load(json));
    return std::make_unique<HuggingFaceTokenizer>(HuggingFaceTokenizer::load(json));
  }
  throw Error("{}: expected tokenizer.model or tokenizer.json, found neither", directory.string());
}

}  // namespace

std::vector<int> Tokenizer::encode(std::string_view text) const {
  std::vector<int> ids;
  encode(text, TextPosition::Start, ids);
  return ids;
}

std::string Tokenizer::decode(std::span<const int> ids) const {
  std::string bytes;
  for (const int id : ids) bytes += piece_bytes(id);
  if (adds_leading_space() && bytes.starts_with(' ')) bytes.erase(0, 1);
  return bytes;
}

bool Tokenizer::is_end(int id) const {
  return specials_.eos == id ||
         std::find(specials_.ends.begin(), specials_.ends.end(), id) != specials_.ends.end();
}

int Tokenizer::require_id(int id) const {
  if (id < 0 || id >= vocab_size())
    throw Error("token id {} is outside the vocabulary of {} tokens", id, vocab_size());
  return id;
}

std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& directory) {
  auto tokenizer = tokenizer_in(directory);
  SpecialTokens specials = tokenizer->specials();
  add_specials_of_configs(directory, tokenizer->vocab_size(), specials);
  tokenizer->set_specials(std::move(specials));
  return tokenizer;
}

}  // namespace onceover
