#include "text/byte_level.h"

#include "base/utf8.h"

namespace onceover {
namespace {

constexpr size_t alphabet_end = 0x100 + 68;  // the code point after the last of the alphabet

std::array<std::string, 256> make_alphabet() {
  std::array<std::string, 256> alphabet;
  char32_t next = 0x100;
  for (char32_t byte = 0; byte < 256; byte++) {
    const bool printable = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    append_utf8(alphabet[byte], printable ? byte : next++);
  }
  return alphabet;
}

// By code point; -1 = not of the alphabet.
std::array<int, alphabet_end> invert_alphabet() {
  std::array<int, alphabet_end> bytes;
  bytes.fill(-1);
  for (int byte = 0; byte < 256; byte++) {
    size_t at = 0;
    bytes[next_code_point(byte_level_alphabet()[static_cast<size_t>(byte)], at)] = byte;
  }
  return bytes;
}

}  // namespace

const std::array<std::string, 256>& byte_level_alphabet() {
  static const auto alphabet = make_alphabet();
  return alphabet;
}

std::optional<std::string> bytes_of_byte_level(std::string_view text) {
  static const auto byte_of = invert_alphabet();
  std::string bytes;
  for (size_t at = 0; at < text.size();) {
    const char32_t code = next_code_point(text, at);
    if (code >= alphabet_end || byte_of[code] < 0) return std::nullopt;
    bytes += static_cast<char>(byte_of[code]);
  }
  return bytes;
}

}  // namespace onceover
