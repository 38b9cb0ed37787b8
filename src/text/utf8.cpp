#include "text/utf8.h"

#include <algorithm>

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
      text += "\xEF\xBF\xBD";
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
