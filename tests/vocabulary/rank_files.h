// Small vocabularies as llama2.c and tiktoken write them.
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/gguf_writer.h"

namespace onceover {

// The scored vocabulary of fixtures.h as llama2.c writes it.
inline std::string llama2c_file() {
  std::string file = little_endian<uint32_t>(6);
  const auto add = [&](const std::string& token, float score) {
    file += little_endian(score) + little_endian<uint32_t>(static_cast<uint32_t>(token.size())) + token;
  };
  for (const char* token : {"<unk>", "\n<s>\n", "\n</s>\n"}) add(token, 0);
  for (int byte = 0; byte < 256; byte++) add(fmt::format("<0x{:02X}>", byte), 0);
  for (const char* token : {" ", "a", "b"}) add(token, 0);
  add(" a", -1);
  add(" ab", -3);
  add("ab", -2);
  return file;
}

inline std::string base64(const std::string& bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t bits = 0;
    for (size_t j = 0; j < 3; j++)
      bits = bits << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0);
    for (size_t j = 0; j < 4; j++) text += i + j > bytes.size() ? '=' : digits[bits >> (18 - 6 * j) & 63];
  }
  return text;
}

// The 256 bytes and some longer tokens.
inline std::string tiktoken_file(const std::vector<std::string>& longer) {
  std::string file;
  for (int byte = 0; byte < 256; byte++)
    file += base64(std::string(1, static_cast<char>(byte))) + fmt::format(" {}\n", byte);
  for (size_t i = 0; i < longer.size(); i++) file += base64(longer[i]) + fmt::format(" {}\n", 256 + i);
  return file;
}

}  // namespace onceover
