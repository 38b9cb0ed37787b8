#include "base/utf8.h"

#include <algorithm>
#include <array>

namespace onceover {
namespace {

struct Lead {
  size_t bytes;             // of the whole character; 0 = cannot lead
  unsigned char low, high;  // the range of the second byte
};

Lead lead_of(unsigned char c) {
  if (c < 0x80) return {1, 0, 0};
  if (c < 0xC2) return {0, 0, 0};
  if (c < 0xE0) return {2, 0x80, 0xBF};
  if (c < 0xF0)
    return {3, static_cast<unsigned char>(c == 0xE0 ? 0xA0 : 0x80),
            static_cast<unsigned char>(c == 0xED ? 0x9F : 0xBF)};
  if (c < 0xF5)
    return {4, static_cast<unsigned char>(c == 0xF0 ? 0x90 : 0x80),
            static_cast<unsigned char>(c == 0xF4 ? 0x8F : 0xBF)};
  return {0, 0, 0};
}

// Length of the longest start of `text` that is a character or the beginning of one; 0 when not even the
// first byte is.
size_t plausible_bytes(std::string_view text, const Lead& lead) {
  const size_t end = std::min(lead.bytes, text.size());
  for (size_t i = 1; i < end; i++) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (i == 1 ? c < lead.low || c > lead.high : c < 0x80 || c > 0xBF) return i;
  }
  return end;
}

}  // namespace

size_t utf8_char_bytes(std::string_view text) {
  if (text.empty()) return 0;
  const Lead lead = lead_of(static_cast<unsigned char>(text[0]));
  return plausible_bytes(text, lead) == lead.bytes ? lead.bytes : 0;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t bytes = utf8_char_bytes(text);
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

char32_t next_code_point(std::string_view text, size_t& at) {
  const size_t bytes = utf8_char_bytes(text.substr(at, 4));
  if (bytes == 0) return at++, replacement_character;
  constexpr std::array<unsigned char, 5> lead_bits{0, 0x7F, 0x1F, 0x0F, 0x07};
  char32_t code = static_cast<unsigned char>(text[at]) & lead_bits[bytes];
  for (size_t i = 1; i < bytes; i++) code = code << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3F);
  at += bytes;
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

size_t utf8_unfinished_bytes(std::string_view text) {
  for (size_t back = 1; back <= std::min<size_t>(3, text.size()); back++) {
    const std::string_view tail = text.substr(text.size() - back);
    const Lead lead = lead_of(static_cast<unsigned char>(tail[0]));
    if (lead.bytes > back && plausible_bytes(tail, lead) == back) return back;
  }
  return 0;
}

std::string display_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const size_t length = utf8_char_bytes(bytes);
    if (length == 0) {
      append_utf8(text, replacement_character);
    } else {
      text += bytes.substr(0, length);
    }
    bytes.remove_prefix(std::max<size_t>(length, 1));
  }
  return text;
}

size_t utf8_cut(std::string_view text, size_t limit) {
  if (limit >= text.size()) return text.size();
  for (size_t back = 1; back <= std::min<size_t>(3, limit); back++) {
    const size_t start = limit - back;
    if (utf8_char_bytes(text.substr(start, 4)) > back) return start;
  }
  return limit;
}

}  // namespace onceover
