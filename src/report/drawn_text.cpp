#include "report/drawn_text.h"

#include <array>

#include "base/utf8.h"

namespace onceover {
namespace {

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
