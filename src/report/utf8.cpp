#include "report/utf8.h"

#include <array>

namespace onceover {
namespace {

int sequence_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return 2;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  if (lead >= 0xF0 && lead < 0xF5) return 4;
  return 0;
}

bool is_scalar(char32_t code, int length) {
  constexpr std::array<char32_t, 5> smallest{0, 0, 0x80, 0x800, 0x10000};
  return code >= smallest[length] && code <= 0x10FFFF && !(code >= 0xD800 && code < 0xE000);
}

bool is_printable(char32_t code) {
  if (code == '\t' || code == '\n') return true;
  const bool control = code < 0x20 || (code >= 0x7F && code < 0xA0);
  const bool direction = (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
  return !control && !direction && (code & 0xFFFE) != 0xFFFE;
}

int columns_of(char32_t code) {
  struct Block {
    char32_t first, last;
  };
  constexpr std::array<Block, 8> wide{{{0x1100, 0x115F},
                                       {0x2E80, 0xA4CF},
                                       {0xAC00, 0xD7A3},
                                       {0xF900, 0xFAFF},
                                       {0xFE30, 0xFE6F},
                                       {0xFF00, 0xFF60},
                                       {0x1F300, 0x1FAFF},
                                       {0x20000, 0x3FFFD}}};
  for (const auto& block : wide) {
    if (code >= block.first && code <= block.last) return 2;
  }
  return 1;
}

}  // namespace

char32_t next_code_point(std::string_view text, size_t& at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const int length = sequence_length(lead);
  if (length == 1) return text[at++], lead;
  if (length == 0 || at + length > text.size()) return at++, replacement_character;
  char32_t code = lead & (0x7F >> length);
  for (int i = 1; i < length; i++) {
    const auto byte = static_cast<unsigned char>(text[at + i]);
    if ((byte & 0xC0) != 0x80) return at++, replacement_character;
    code = code << 6 | (byte & 0x3F);
  }
  if (!is_scalar(code, length)) return at++, replacement_character;
  at += length;
  return code;
}

void append_utf8(std::string& text, char32_t code) {
  if (code < 0x80) {
    text += static_cast<char>(code);
    return;
  }
  const int extra = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr std::array<int, 4> lead{0, 0xC0, 0xE0, 0xF0};
  text += static_cast<char>(lead[extra] | static_cast<int>(code >> (6 * extra)));
  for (int i = extra - 1; i >= 0; i--) text += static_cast<char>(0x80 | ((code >> (6 * i)) & 0x3F));
}

std::string clean_text(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const char32_t code = next_code_point(text, at);
    append_utf8(clean, is_printable(code) ? code : replacement_character);
  }
  return clean;
}

int text_columns(std::string_view text) {
  int columns = 0;
  for (size_t at = 0; at < text.size();) columns += columns_of(next_code_point(text, at));
  return columns;
}

std::string shorten(std::string_view text, int columns) {
  if (text_columns(text) <= columns) return std::string(text);
  if (columns <= 0) return "";
  int used = 0;
  size_t at = 0;
  for (size_t end = 0;; at = end) {
    used += columns_of(next_code_point(text, end));
    if (used > columns - 1) break;
  }
  return std::string(text.substr(0, at)) + "…";
}

}  // namespace onceover
