// BPE's text is encoded word by word where no piece can span two words, which the vocabulary tells: BPE
// merges only neighbours whose union is a piece, so a border that no piece crosses is a border of the ids
// too, and words can be remembered. Not so unigrams': of two ways to cut a word that sum to the same,
// rounding decides, and so what stands before the word.
#include "text/sentencepiece_tokenizer.h"

#include <sentencepiece_processor.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/mapped_file.h"
#include "base/utf8.h"
#include "text/piece_cache.h"

namespace onceover {
namespace {

using Type = SentencePieceModel::Type;
using Kind = SentencePieceModel::Kind;

constexpr std::string_view space_symbol = "\xE2\x96\x81";
constexpr size_t max_model_bytes = size_t{64} << 20;
constexpr size_t max_chunk_bytes = size_t{1}
                                   << 20;  // the library counts in int and needs some 100 bytes a byte
constexpr size_t max_unknown_run = 1024;   // of characters: the library takes time of its square

std::string with_spaces(std::string_view text) {
  std::string spaced;
  while (!text.empty()) {
    const bool space = text.starts_with(space_symbol);
    spaced += space ? ' ' : text[0];
    text.remove_prefix(space ? space_symbol.size() : 1);
  }
  return spaced;
}

std::string bytes_of(const SentencePieceModel::Piece& piece) {
  switch (piece.type) {
    case Type::Unknown:
    case Type::Control:
      return "";
    case Type::Byte:
      return std::string(1, static_cast<char>(std::stoi(piece.text.substr(3, 2), nullptr, 16)));
    default:
      return with_spaces(piece.text);
  }
}

bool space_follows_other(std::string_view bytes) {
  for (size_t i = 1; i < bytes.size(); i++) {
    if (bytes[i] == ' ' && bytes[i - 1] != ' ') return true;
  }
  return false;
}

// Bytes at the start of `text` that the library encodes exactly.
size_t clean_bytes(std::string_view text) {
  size_t end = 0;
  while (end < text.size()) {
    const size_t bytes = utf8_char_bytes(text.substr(end, 4));
    if (bytes == 0 || text.substr(end, bytes) == space_symbol) break;
    end += bytes;
  }
  return end;
}

}  // namespace

SentencePieceTokenizer SentencePieceTokenizer::load(const std::filesystem::path& file) {
  return SentencePieceTokenizer(read_text_file(file, max_model_bytes), file.string());
}

SentencePieceTokenizer::SentencePieceTokenizer(std::string message, const std::string& where)
    : message_(std::move(message)),
      model_(parse_sentencepiece_model(message_, where)),
      processor_(std::make_unique<sentencepiece::SentencePieceProcessor>()),
      cache_(std::make_unique<PieceCache>()) {
  if (model_.normalizes() || !model_.byte_fallback) normalizer_.emplace(model_, where);
  find_pieces();
  const auto status = processor_->LoadFromSerializedProto(sentencepiece_message(model_));
  if (!status.ok()) throw Error("{}: the sentencepiece library refuses it: {}", where, status.ToString());
}

SentencePieceTokenizer::SentencePieceTokenizer(SentencePieceTokenizer&&) noexcept = default;
SentencePieceTokenizer::~SentencePieceTokenizer() = default;

void SentencePieceTokenizer::find_pieces() {
  for (int id = 0; id < vocab_size(); id++) {
    const auto& piece = model_.pieces[static_cast<size_t>(id)];
    bytes_.push_back(bytes_of(piece));
    const std::string& bytes = bytes_.back();
    if (piece.type == Type::Unknown) unknown_ = id;
    for (size_t at = 0; !model_.byte_fallback && at < bytes.size();)
      characters_.insert(next_code_point(bytes, at));
    if (piece.type == Type::Byte) byte_ids_[static_cast<unsigned char>(bytes[0])] = id;
    if (piece.type == Type::Control && piece.text == model_.bos_piece) specials_.bos = id;
    if (piece.type == Type::Control && piece.text == model_.eos_piece) specials_.eos = id;
    if (piece.type == Type::Control && piece.text == model_.pad_piece) specials_.pad = id;
    if (piece.type == Type::Control) prompts_.add({.id = id, .content = piece.text, .special = true});
    if (space_follows_other(bytes)) splits_at_space_ = false;
    if (bytes.size() > 1 && bytes.find('\n') != std::string::npos) splits_at_newline_ = false;
  }
}

void SentencePieceTokenizer::encode(std::string_view text, TextPosition position,
                                    std::vector<int>& ids) const {
  if (!normalizer_) return encode_exactly(text, position, ids);
  const bool prefix = position == TextPosition::Start ? model_.add_dummy_prefix : model_.removes_spaces;
  encode_normal(normalizer_->apply(text, prefix), ids);
}

void SentencePieceTokenizer::encode_exactly(std::string_view text, TextPosition position,
                                            std::vector<int>& ids) const {
  if (text.empty()) return;
  std::string first;  // the text's first word behind the space that the model wants before it
  if (position == TextPosition::Start && model_.add_dummy_prefix) {
    const std::string_view clean = text.substr(0, clean_bytes(text.substr(0, 2 * max_chunk_bytes)));
    const std::string_view word = clean.empty() ? clean : next_chunk(clean);
    encode_chunk(first.append(1, ' ').append(word), ids);
    text.remove_prefix(word.size());
  }
  while (!text.empty()) {
    const size_t clean = clean_bytes(text);
    encode_clean(text.substr(0, clean), ids);
    text.remove_prefix(clean);
    if (text.empty()) break;
    const size_t raw = text.starts_with(space_symbol) ? space_symbol.size() : 1;
    for (size_t i = 0; i < raw; i++) ids.push_back(byte_ids_[static_cast<unsigned char>(text[i])]);
    text.remove_prefix(raw);
  }
}

std::vector<int> SentencePieceTokenizer::encode_prompt(std::string_view text, std::span<const ByteSpan> input,
                                                       TextPosition position) const {
  std::vector<int> ids;
  prompts_.encode(*this, text, input, position, ids);
  return ids;
}

// Chunk by chunk; as in the library, unknown characters that follow each other give one id.
void SentencePieceTokenizer::encode_normal(std::string_view text, std::vector<int>& ids) const {
  if (model_.byte_fallback) return encode_clean(text, ids);
  const std::string shorter = shorten_unknown(text);
  std::vector<int> chunk_ids;
  bool after_unknown = false;
  for (std::string_view rest = shorter; !rest.empty();) {
    const std::string_view chunk = next_chunk(rest);
    chunk_ids.clear();
    encode_chunk(chunk, chunk_ids);
    rest.remove_prefix(chunk.size());
    const bool goes_on = after_unknown && !chunk_ids.empty() && chunk_ids.front() == unknown_;
    ids.insert(ids.end(), chunk_ids.begin() + (goes_on ? 1 : 0), chunk_ids.end());
    after_unknown = !chunk_ids.empty() && chunk_ids.back() == unknown_;
  }
}

std::string SentencePieceTokenizer::shorten_unknown(std::string_view normal) const {
  std::string shorter;
  shorter.reserve(normal.size());
  size_t run = 0;
  for (size_t at = 0; at < normal.size();) {
    const size_t start = at;
    run = characters_.contains(next_code_point(normal, at)) ? 0 : run + 1;
    if (run <= max_unknown_run) shorter += normal.substr(start, at - start);
  }
  return shorter;
}

void SentencePieceTokenizer::encode_clean(std::string_view text, std::vector<int>& ids) const {
  while (!text.empty()) {
    const std::string_view chunk = next_chunk(text);
    encode_chunk(chunk, ids);
    text.remove_prefix(chunk.size());
  }
}

std::string_view SentencePieceTokenizer::next_chunk(std::string_view text) const {
  const size_t end = model_.kind == Kind::Unigram ? text.size() : end_of_word(text);
  return text.substr(0, end > max_chunk_bytes ? place_to_cut(text) : end);
}

size_t SentencePieceTokenizer::end_of_word(std::string_view text) const {
  if (splits_at_newline_ && text[0] == '\n') return std::min(text.find_first_not_of('\n'), text.size());
  if (splits_at_space_) {
    const size_t word = std::min(text.find_first_not_of(' '), text.size());
    return std::min(text.find_first_of(splits_at_newline_ ? " \n" : " ", word), text.size());
  }
  return splits_at_newline_ ? std::min(text.find('\n'), text.size()) : text.size();
}

// Before a word where that cannot change ids, else between two characters.
size_t SentencePieceTokenizer::place_to_cut(std::string_view text) const {
  const size_t most = utf8_cut(text, max_chunk_bytes);
  for (size_t at = most; splits_at_space_ && at > 1; at--) {
    if (text[at] == ' ' && text[at - 1] != ' ') return at;
  }
  return most;
}

void SentencePieceTokenizer::encode_chunk(std::string_view chunk, std::vector<int>& ids) const {
  const bool short_word = chunk.size() <= PieceCache::max_word_bytes;
  if (short_word && cache_->find(chunk, ids)) return;
  std::vector<int> found;
  const auto status = processor_->Encode(chunk, &found);
  if (!status.ok()) throw Error("the sentencepiece library cannot encode a text: {}", status.ToString());
  ids.insert(ids.end(), found.begin(), found.end());
  if (short_word) cache_->remember(chunk, std::move(found));
}

void SentencePieceTokenizer::save(const std::filesystem::path& directory) const {
  nlohmann::ordered_json config = {{"tokenizer_class", "LlamaTokenizer"},
                                   {"add_bos_token", specials_.adds_bos},
                                   {"add_prefix_space", model_.add_dummy_prefix},
                                   {"legacy", false},
                                   {"clean_up_tokenization_spaces", false}};
  if (specials_.bos) config["bos_token"] = model_.bos_piece;
  if (specials_.eos) config["eos_token"] = model_.eos_piece;
  if (specials_.pad) config["pad_token"] = model_.pad_piece;
  write_text_file(directory / "tokenizer.model", message_);
  write_text_file(directory / "tokenizer_config.json", config.dump(2) + "\n");
}

uint64_t SentencePieceTokenizer::fingerprint() const {
  const uint64_t pieces = hash64(sentencepiece_message(model_), model_.add_dummy_prefix ? 1 : 0);
  return model_.normalizes() ? hash64(model_.character_map, pieces + (model_.removes_spaces ? 1 : 0))
                             : pieces;
}

}  // namespace onceover
