#include "text/byte_tokenizer.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/mapped_file.h"
#include "text/byte_level.h"

namespace onceover {
namespace {

using Json = nlohmann::ordered_json;

constexpr auto bytes_in_order = [] {
  std::array<char, 256> bytes{};
  for (int i = 0; i < 256; i++) bytes[static_cast<size_t>(i)] = static_cast<char>(i);
  return bytes;
}();

Json byte_vocabulary() {
  Json vocabulary = Json::object();
  const auto& alphabet = byte_level_alphabet();
  for (int byte = 0; byte < 256; byte++) vocabulary[alphabet[static_cast<size_t>(byte)]] = byte;
  return vocabulary;
}

Json added_tokens(const std::vector<std::string>& names) {
  Json tokens = Json::array();
  for (size_t i = 0; i < names.size(); i++) {
    tokens.push_back({{"id", 256 + i},
                      {"content", names[i]},
                      {"single_word", false},
                      {"lstrip", false},
                      {"rstrip", false},
                      {"normalized", false},
                      {"special", true}});
  }
  return tokens;
}

Json tokenizer_json(const std::vector<std::string>& names) {
  const Json byte_level = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", false}, {"use_regex", false}};
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens", added_tokens(names)},
          {"normalizer", nullptr},
          {"pre_tokenizer", byte_level},
          {"post_processor", nullptr},
          {"decoder", byte_level},
          {"model",
           {{"type", "BPE"},
            {"dropout", nullptr},
            {"unk_token", nullptr},
            {"continuing_subword_prefix", nullptr},
            {"end_of_word_suffix", nullptr},
            {"fuse_unk", false},
            {"byte_fallback", false},
            {"vocab", byte_vocabulary()},
            {"merges", Json::array()}}}};
}

Json tokenizer_config_json(const std::vector<std::string>& names) {
  Json config = {{"tokenizer_class", "PreTrainedTokenizerFast"}, {"clean_up_tokenization_spaces", false}};
  for (const auto& name : names) config[name.substr(1, name.size() - 2) + "_token"] = name;
  return config;
}

constexpr uintmax_t max_file_bytes = size_t{64} << 10;

bool has_name(const nlohmann::json& tokens, const char* name) {
  return std::any_of(tokens.begin(), tokens.end(), [&](const nlohmann::json& token) {
    return token.is_object() && token.contains("content") && token["content"] == name;
  });
}

}  // namespace

ByteTokenizer::ByteTokenizer(Wanted wanted) {
  const auto add = [&](bool is_wanted, const char* name, std::optional<int>& id) {
    if (!is_wanted) return;
    id = vocab_size();
    names_.emplace_back(name);
    prompts_.add({.id = *id, .content = name, .special = true});
  };
  add(wanted.bos, "<bos>", specials_.bos);
  add(wanted.eos, "<eos>", specials_.eos);
  add(wanted.pad, "<pad>", specials_.pad);
}

bool ByteTokenizer::wrote(const std::filesystem::path& file) {
  std::error_code unreadable;
  if (std::filesystem::file_size(file, unreadable) > max_file_bytes || unreadable) return false;
  try {
    load(file);
    return true;
  } catch (const Error&) {
    return false;
  }
}

ByteTokenizer ByteTokenizer::load(const std::filesystem::path& file) {
  const auto found = parse_json(read_text_file(file, size_t{256} << 20), file.string());
  if (!found.is_object())
    throw Error("{}: expected a JSON object, found {}", file.string(), found.type_name());
  const auto tokens = found.value("added_tokens", nlohmann::json::array());
  ByteTokenizer tokenizer({has_name(tokens, "<bos>"), has_name(tokens, "<eos>"), has_name(tokens, "<pad>")});
  const nlohmann::json expected = tokenizer_json(tokenizer.names_);
  for (const auto& [key, value] : expected.items()) {
    if (found.contains(key) && found[key] == value) continue;
    throw Error(
        "{}: '{}' is not that of a byte tokeniser (256 byte tokens, no merges, then <bos>, <eos>, <pad>)",
        file.string(), key);
  }
  return tokenizer;
}

void ByteTokenizer::encode(std::string_view text, TextPosition, std::vector<int>& ids) const {
  ids.reserve(ids.size() + text.size());
  for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
}

std::vector<int> ByteTokenizer::encode_prompt(std::string_view text, std::span<const ByteSpan> input,
                                              TextPosition position) const {
  std::vector<int> ids;
  prompts_.encode(*this, text, input, position, ids);
  return ids;
}

std::string_view ByteTokenizer::piece_bytes(int id) const {
  if (require_id(id) >= 256) return {};
  return {&bytes_in_order[static_cast<size_t>(id)], 1};
}

std::string ByteTokenizer::token_name(int id) const {
  if (require_id(id) >= 256) return names_[static_cast<size_t>(id - 256)];
  return id > 0x20 && id < 0x7F ? std::string(1, static_cast<char>(id)) : fmt::format("<0x{:02X}>", id);
}

void ByteTokenizer::save(const std::filesystem::path& directory) const {
  write_text_file(directory / "tokenizer.json", tokenizer_json(names_).dump(2) + "\n");
  write_text_file(directory / "tokenizer_config.json", tokenizer_config_json(names_).dump(2) + "\n");
}

uint64_t ByteTokenizer::fingerprint() const { return hash64(tokenizer_json(names_).dump()); }

}  // namespace onceover
