// Small vocabularies in GGUF form.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/gguf_writer.h"
#include "support/temporary_folder.h"
#include "text/byte_level.h"
#include "vocabulary/gguf_tokenizer.h"

namespace onceover {

using GgufKeys = std::map<std::string, std::pair<uint32_t, std::string>>;  // type and bytes

inline GgufKeys::mapped_type string_value(const std::string& text) { return {8, gguf_string(text)}; }
inline GgufKeys::mapped_type u32_value(uint32_t value) { return {4, little_endian(value)}; }
inline GgufKeys::mapped_type bool_value(bool value) { return {7, std::string(1, value ? '\1' : '\0')}; }

inline GgufKeys::mapped_type strings_value(const std::vector<std::string>& texts) {
  std::string bytes;
  for (const auto& text : texts) bytes += gguf_string(text);
  return {9, gguf_array(8, texts.size(), bytes)};
}

template <class T>
GgufKeys::mapped_type numbers_value(uint32_t type, const std::vector<T>& values) {
  std::string bytes;
  for (const T value : values) bytes += little_endian(value);
  return {9, gguf_array(type, values.size(), bytes)};
}

inline std::string gguf_file(const GgufKeys& keys) {
  GgufWriter writer;
  for (const auto& [key, value] : keys) writer.value(key, value.first, value.second);
  return writer.file();
}

inline std::unique_ptr<Tokenizer> tokenizer_of(const GgufKeys& keys) {
  const std::string file = gguf_file(keys);
  return tokenizer_of_gguf(parse_gguf(std::as_bytes(std::span(file)), "x.gguf"), "x.gguf");
}

// Llama's form: <unk>, <s>, </s>, bytes from 3 on, then "▁" 259, "a" 260, "b" 261, "▁a" 262, "▁ab" 263, "ab"
// 264.
inline GgufKeys scored_vocabulary() {
  std::vector<std::string> tokens = {"<unk>", "<s>", "</s>"};
  std::vector<int32_t> types = {2, 3, 3};
  for (int byte = 0; byte < 256; byte++) {
    tokens.push_back(fmt::format("<0x{:02X}>", byte));
    types.push_back(6);
  }
  for (const char* piece : {"▁", "a", "b", "▁a", "▁ab", "ab"}) {
    tokens.emplace_back(piece);
    types.push_back(1);
  }
  std::vector<float> scores(tokens.size(), 0);
  scores[262] = -1, scores[264] = -2, scores[263] = -3;
  return {{"tokenizer.ggml.model", string_value("llama")},
          {"tokenizer.ggml.tokens", strings_value(tokens)},
          {"tokenizer.ggml.token_type", numbers_value(5, types)},
          {"tokenizer.ggml.scores", numbers_value(6, scores)},
          {"tokenizer.ggml.bos_token_id", u32_value(1)},
          {"tokenizer.ggml.eos_token_id", u32_value(2)}};
}

// GPT-2's form: bytes, "ab" 256, "11" 257, " ab" 258, filler, <end> 260 (control), <tool> 261 (user-defined).
inline GgufKeys merged_vocabulary(const std::string& pre) {
  std::vector<std::string> tokens(byte_level_alphabet().begin(), byte_level_alphabet().end());
  for (const char* token : {"ab", "11", "Ġab", "[PAD259]", "<end>", "<tool>"}) tokens.emplace_back(token);
  std::vector<int32_t> types(tokens.size(), 1);
  types[259] = 4, types[260] = 3, types[261] = 4;
  return {{"tokenizer.ggml.model", string_value("gpt2")},
          {"tokenizer.ggml.pre", string_value(pre)},
          {"tokenizer.ggml.tokens", strings_value(tokens)},
          {"tokenizer.ggml.token_type", numbers_value(5, types)},
          {"tokenizer.ggml.merges", strings_value({"a b", "1 1", "Ġ ab"})},
          {"tokenizer.ggml.eos_token_id", u32_value(260)}};
}

}  // namespace onceover
