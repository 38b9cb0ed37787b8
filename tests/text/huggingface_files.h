// Small tokenizer.json files.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "text/byte_level.h"
#include "text/huggingface_tokenizer.h"

namespace onceover {

using Json = nlohmann::json;

inline Json byte_level(bool use_regex, bool add_prefix_space = false) {
  return {{"type", "ByteLevel"}, {"add_prefix_space", add_prefix_space}, {"use_regex", use_regex}};
}

// The 256 bytes have their values as ids.
inline Json byte_level_file(const std::vector<std::string>& merges = {"a b", "Ġ a", "Ġa b"}) {
  Json vocab;
  for (size_t byte = 0; byte < 256; byte++) vocab[byte_level_alphabet()[byte]] = byte;
  for (std::string merge : merges) {
    merge.erase(merge.find(' '), 1);
    if (!vocab.contains(merge)) vocab[merge] = vocab.size();
  }
  return {{"added_tokens", Json::array()},
          {"normalizer", nullptr},
          {"pre_tokenizer", byte_level(true)},
          {"decoder", byte_level(true)},
          {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", merges}}}};
}

// Case D8's vocabulary: bytes at 3 + value, "▁" 259, "a" 260, "▁a" 261.
inline Json fallback_file() {
  Json vocab = {{"<unk>", 0}, {"<s>", 1}, {"</s>", 2}, {"▁", 259}, {"a", 260}, {"▁a", 261}};
  for (int byte = 0; byte < 256; byte++) vocab[fmt::format("<0x{:02X}>", byte)] = 3 + byte;
  const Json space = {{"String", " "}}, mark = {{"String", "▁"}};
  const Json normalizers = {{{"type", "Prepend"}, {"prepend", "▁"}},
                            {{"type", "Replace"}, {"pattern", space}, {"content", "▁"}}};
  const Json decoders = {{{"type", "Replace"}, {"pattern", mark}, {"content", " "}},
                         {{"type", "ByteFallback"}},
                         {{"type", "Fuse"}},
                         {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}}};
  return {{"normalizer", {{"type", "Sequence"}, {"normalizers", normalizers}}},
          {"pre_tokenizer", nullptr},
          {"decoder", {{"type", "Sequence"}, {"decoders", decoders}}},
          {"model",
           {{"type", "BPE"},
            {"unk_token", "<unk>"},
            {"byte_fallback", true},
            {"vocab", vocab},
            {"merges", Json::array({Json::array({"▁", "a"})})}}}};
}

// Without a ByteLevel pattern: words are what `pattern` cuts.
inline Json split_file(const std::string& pattern, const std::string& behavior = "Isolated",
                       bool invert = false) {
  Json file = byte_level_file();
  const Json split = {
      {"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", behavior}, {"invert", invert}};
  file["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", {split, byte_level(false)}}};
  return file;
}

inline Json added_token(int id, const std::string& content, bool special) {
  return {{"id", id}, {"content", content}, {"special", special}, {"normalized", false}};
}

inline HuggingFaceTokenizer tokenizer_of(const Json& file, const std::string& config = "") {
  return {file.dump(), config, "test.json"};
}

using Ids = std::vector<int>;

}  // namespace onceover
