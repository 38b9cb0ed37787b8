#include "text/huggingface_tokenizer.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/mapped_file.h"
#include "base/utf8.h"
#include "text/byte_level.h"
#include "text/json_reader.h"
#include "text/piece_cache.h"

namespace onceover {
namespace {

constexpr std::string_view space_symbol = "\xE2\x96\x81";
constexpr size_t max_config_bytes = size_t{16} << 20;
constexpr size_t max_word_bytes = size_t{1} << 30;  // the merges count symbols in int

// The text of a special token in tokenizer_config.json: itself, or the content of an object.
std::string special_name(const JsonReader& config, const char* key) {
  if (!config.has(key)) return "";
  const JsonReader token = config.member(key);
  return token.json().is_object() ? token.member("content").text() : token.text();
}

bool is_ordinary(const AddedToken& token, size_t, size_t) { return !token.special; }

bool mark_follows_other(std::string_view name) {
  for (size_t at = name.find(space_symbol, 1); at != std::string_view::npos;
       at = name.find(space_symbol, at + 1)) {
    if (!name.substr(0, at).ends_with(space_symbol)) return true;
  }
  return false;
}

}  // namespace

HuggingFaceTokenizer HuggingFaceTokenizer::load(const std::filesystem::path& file) {
  const auto beside = file.parent_path() / "tokenizer_config.json";
  std::error_code unreadable;
  std::string config;
  if (std::filesystem::exists(beside, unreadable)) config = read_text_file(beside, max_config_bytes);
  return {read_text_file(file, HuggingFaceJson::max_bytes), std::move(config), file.string()};
}

HuggingFaceTokenizer::HuggingFaceTokenizer(std::string json, std::string config, const std::string& where)
    : json_(std::move(json)),
      config_(std::move(config)),
      file_(parse_huggingface_json(json_, where)),
      byte_level_(file_.pre_tokenizer.byte_level()),
      marks_spaces_(!byte_level_ && file_.normalizer.marks_spaces()),
      merges_(file_.merges),
      cache_(std::make_unique<PieceCache>()) {
  specials_.adds_bos = !file_.first.empty();
  if (!config_.empty()) find_specials(config_, "tokenizer_config.json beside " + where);
  if (file_.ids.contains(file_.unknown)) mark_special(file_.unknown, where);
  find_bytes();
  find_symbols(where);
  check_merges(where);
  is_exact_ = find_exactness();
  for (const AddedToken& token : file_.added) {
    if (token.special || !token.normalized) prompts_.add(token);
    if (token.normalized) {
      normalized_finder_.add(token, file_.normalizer.apply(token.content, true));
    } else {
      raw_finder_.add(token, token.content);
    }
  }
}

HuggingFaceTokenizer::HuggingFaceTokenizer(HuggingFaceTokenizer&&) noexcept = default;
HuggingFaceTokenizer::~HuggingFaceTokenizer() = default;

void HuggingFaceTokenizer::find_specials(const std::string& config, const std::string& where) {
  const nlohmann::json json = parse_json(config, where);
  const JsonReader reader(json, where);
  const auto find = [&](const char* key, std::optional<int>& id) {
    const std::string name = special_name(reader, key);
    if (name.empty()) return;
    mark_special(name, where);
    id = file_.ids.at(name);
  };
  find("bos_token", specials_.bos);
  find("eos_token", specials_.eos);
  find("pad_token", specials_.pad);
  if (reader.has("add_bos_token")) specials_.adds_bos = reader.member("add_bos_token").flag();
}

void HuggingFaceTokenizer::mark_special(const std::string& name, const std::string& where) {
  const auto known = file_.ids.find(name);
  if (known == file_.ids.end())
    throw Error("{}: special token '{}' is not in the vocabulary", where, printable(name));
  const auto added = std::find_if(file_.added.begin(), file_.added.end(),
                                  [&](const AddedToken& token) { return token.content == name; });
  if (added != file_.added.end()) {
    added->special = true;
  } else {
    file_.added.push_back({.id = known->second, .content = name, .special = true});
  }
}

// "▁" as the space that it stands for.
std::string HuggingFaceTokenizer::spaced(std::string_view text) const {
  std::string out;
  while (!text.empty()) {
    const bool space = marks_spaces_ && text.starts_with(space_symbol);
    out += space ? ' ' : text[0];
    text.remove_prefix(space ? space_symbol.size() : 1);
  }
  return out;
}

// Of a token that is no added one. The library shows a token outside the alphabet as it is.
std::string HuggingFaceTokenizer::plain_bytes(const std::string& name) const {
  return byte_level_ ? bytes_of_byte_level(name).value_or(name) : spaced(name);
}

void HuggingFaceTokenizer::find_bytes() {
  for (const std::string& name : file_.names) bytes_.push_back(plain_bytes(name));
  for (const AddedToken& token : file_.added) {
    std::string& bytes = bytes_[static_cast<size_t>(token.id)];
    if (token.special) {
      bytes.clear();
    } else {
      bytes = token.normalized ? spaced(file_.normalizer.apply(token.content, true)) : token.content;
    }
  }
}

// Tokens that words can begin from: bytes, or characters and the bytes they fall back to.
void HuggingFaceTokenizer::find_symbols(const std::string& where) {
  if (!byte_level_) find_byte_tokens(where);
  if (byte_level_) byte_ids_.fill(-1);
  for (int id = 0; id < vocab_size(); id++) {
    const std::string& name = file_.names[static_cast<size_t>(id)];
    const std::string& bytes = bytes_[static_cast<size_t>(id)];
    if (name.empty() || bytes.empty() || bytes != plain_bytes(name)) continue;
    if (byte_level_) {
      const bool written = bytes_of_byte_level(name).has_value();
      if (written && bytes.size() == 1) byte_ids_[static_cast<unsigned char>(bytes[0])] = id;
      if (written && file_.ignore_merges) words_.emplace(bytes, id);
    } else {
      size_t at = 0;
      const char32_t code = next_code_point(name, at);
      if (at == name.size()) characters_.emplace(code, id);
      if (file_.ignore_merges) words_.emplace(name, id);
    }
  }
  splits_at_space_ = marks_spaces_ && !file_.ignore_merges;
  for (const auto& merge : file_.merges) {
    if (mark_follows_other(file_.names[static_cast<size_t>(merge.merged)])) splits_at_space_ = false;
  }
}

void HuggingFaceTokenizer::find_byte_tokens(const std::string& where) {
  for (size_t byte = 0; byte < 256; byte++) {
    const std::string name = fmt::format("<0x{:02X}>", byte);
    const auto known = file_.ids.find(name);
    if (known == file_.ids.end()) throw Error("{}: byte_fallback, but token '{}' is missing", where, name);
    byte_ids_[byte] = known->second;
    bytes_[static_cast<size_t>(known->second)] = std::string(1, static_cast<char>(byte));
  }
}

// So a merge changes no text, and makes no special token.
void HuggingFaceTokenizer::check_merges(const std::string& where) const {
  for (const auto& [left, right, merged] : file_.merges) {
    if (bytes_[static_cast<size_t>(left)] + bytes_[static_cast<size_t>(right)] ==
        bytes_[static_cast<size_t>(merged)])
      continue;
    throw Error("{}: merging '{}' and '{}' to '{}' would change the text", where,
                printable(file_.names[static_cast<size_t>(left)]),
                printable(file_.names[static_cast<size_t>(right)]),
                printable(file_.names[static_cast<size_t>(merged)]));
  }
}

bool HuggingFaceTokenizer::find_exactness() const {
  const bool normalizes = !file_.normalizer.empty() && (byte_level_ || !file_.normalizer.marks_spaces_only());
  if (normalizes || file_.pre_tokenizer.adds_prefix_space() || file_.pre_tokenizer.removes()) return false;
  if (std::find(byte_ids_.begin(), byte_ids_.end(), -1) != byte_ids_.end()) return false;
  return std::none_of(file_.added.begin(), file_.added.end(), [&](const AddedToken& token) {
    return !token.special && (token.lstrip || token.rstrip || file_.normalizer.prepends());
  });
}

void HuggingFaceTokenizer::encode(std::string_view text, TextPosition position, std::vector<int>& ids) const {
  encode_stretches(raw_finder_.find(text, is_ordinary), position == TextPosition::Start, ids);
}

std::vector<int> HuggingFaceTokenizer::encode_prompt(std::string_view text, std::span<const ByteSpan> input,
                                                     TextPosition position) const {
  std::vector<int> ids;
  encode_stretches(prompts_.find(text, input), position == TextPosition::Start, ids);
  return ids;
}

void HuggingFaceTokenizer::encode_stretches(const std::vector<AddedTokenFinder::Stretch>& stretches,
                                            bool prefix, std::vector<int>& ids) const {
  for (const auto& stretch : stretches) {
    if (stretch.token != nullptr) {
      ids.push_back(stretch.token->id);
    } else {
      encode_fragment(stretch.text, prefix, ids);
    }
    prefix = true;
  }
}

// Bytes at the start of `text` that the normaliser and the pattern may see.
size_t HuggingFaceTokenizer::clean_bytes(std::string_view text) const {
  size_t end = 0;
  while (end < text.size()) {
    const size_t bytes = utf8_char_bytes(text.substr(end, 4));
    if (bytes == 0 || (marks_spaces_ && text.substr(end, bytes) == space_symbol)) break;
    end += bytes;
  }
  return end;
}

void HuggingFaceTokenizer::encode_fragment(std::string_view text, bool prefix, std::vector<int>& ids) const {
  while (!text.empty()) {
    const size_t clean = clean_bytes(text);
    if (clean > 0) encode_clean(text.substr(0, clean), prefix, ids);
    prefix = false;
    text.remove_prefix(clean);
    const size_t raw =
        text.starts_with(space_symbol) ? space_symbol.size() : std::min<size_t>(text.size(), 1);
    for (const char byte : text.substr(0, raw)) ids.push_back(byte_id(byte));
    text.remove_prefix(raw);
  }
}

void HuggingFaceTokenizer::encode_clean(std::string_view text, bool prefix, std::vector<int>& ids) const {
  const std::string normalized = file_.normalizer.apply(text, prefix);
  for (const auto& stretch : normalized_finder_.find(normalized, is_ordinary)) {
    if (stretch.token != nullptr) {
      ids.push_back(stretch.token->id);
    } else {
      file_.pre_tokenizer.split(stretch.text, prefix,
                                [&](std::string_view piece) { encode_stretch(piece, ids); });
    }
    prefix = true;
  }
}

void HuggingFaceTokenizer::encode_stretch(std::string_view text, std::vector<int>& ids) const {
  while (splits_at_space_ && !text.empty()) {
    size_t end = 0;
    while (text.substr(end).starts_with(space_symbol)) end += space_symbol.size();
    end = std::min(text.find(space_symbol, end), text.size());
    encode_word(text.substr(0, end), ids);
    text.remove_prefix(end);
  }
  if (!text.empty()) encode_word(text, ids);
}

void HuggingFaceTokenizer::encode_word(std::string_view word, std::vector<int>& ids) const {
  const bool is_short = word.size() <= PieceCache::max_word_bytes;
  if (is_short && cache_->find(word, ids)) return;
  if (word.size() > max_word_bytes) throw Error("a word of {} bytes cannot be encoded", word.size());
  const size_t first = ids.size();
  const auto whole = file_.ignore_merges ? words_.find(std::string(word)) : words_.end();
  if (whole != words_.end()) {
    ids.push_back(whole->second);
  } else {
    append_symbols(word, ids);
    merges_.apply(ids, first);
  }
  if (is_short) cache_->remember(word, {ids.begin() + static_cast<ptrdiff_t>(first), ids.end()});
}

void HuggingFaceTokenizer::append_symbols(std::string_view word, std::vector<int>& ids) const {
  for (size_t at = 0; at < word.size();) {
    const size_t start = at;
    if (byte_level_) {
      ids.push_back(byte_id(word[at++]));
      continue;
    }
    const auto known = characters_.find(next_code_point(word, at));
    if (known != characters_.end()) {
      ids.push_back(known->second);
    } else {
      for (const char byte : word.substr(start, at - start)) ids.push_back(byte_id(byte));
    }
  }
}

int HuggingFaceTokenizer::byte_id(char byte) const {
  const int id = byte_ids_[static_cast<unsigned char>(byte)];
  if (id < 0)
    throw Error("the vocabulary has no token for the byte 0x{:02X}", static_cast<unsigned char>(byte));
  return id;
}

std::string HuggingFaceTokenizer::token_name(int id) const {
  const std::string& name = file_.names[static_cast<size_t>(require_id(id))];
  return name.empty() ? fmt::format("<no token {}>", id) : name;
}

void HuggingFaceTokenizer::save(const std::filesystem::path& directory) const {
  write_text_file(directory / "tokenizer.json", json_);
  if (!config_.empty()) write_text_file(directory / "tokenizer_config.json", config_);
}

// Of what decides ids; the two ways to write merges, and what a decoder or a post-processor does, are not.
uint64_t HuggingFaceTokenizer::fingerprint() const {
  const nlohmann::json json = nlohmann::json::parse(json_);
  nlohmann::json key = {json.value("normalizer", nlohmann::json()),
                        json.value("pre_tokenizer", nlohmann::json()), file_.names, file_.ignore_merges,
                        file_.byte_fallback};
  for (const auto& [left, right, merged] : file_.merges) key.push_back({left, right, merged});
  for (const auto& token : file_.added)
    key.push_back({token.id, token.special, token.normalized, token.single_word, token.lstrip, token.rstrip});
  return hash64(key.dump());
}

}  // namespace onceover
