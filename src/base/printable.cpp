#include "base/printable.h"

#include <fmt/format.h>

namespace onceover {
namespace {

// Length of the valid UTF-8 sequence at the head of `text`, 0 if there is none. Overlong forms and surrogates
// pass: they are harmless on a terminal.
size_t sequence_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const size_t length = first < 0x80   ? 1
                        : first < 0xC2 ? 0
                        : first < 0xE0 ? 2
                        : first < 0xF0 ? 3
                        : first < 0xF5 ? 4
                                       : 0;
  if (length > text.size()) return 0;
  for (size_t i = 1; i < length; i++) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 0;
  }
  return length;
}

bool is_control(std::string_view sequence) {
  const auto first = static_cast<unsigned char>(sequence[0]);
  const bool c1 = first == 0xC2 && static_cast<unsigned char>(sequence[1]) < 0xA0;
  return first < 0x20 || first == 0x7F || c1;
}

}  // namespace

std::string printable(std::string_view text, size_t max_bytes) {
  std::string out;
  size_t i = 0;
  while (i < text.size() && i < max_bytes) {
    const size_t length = sequence_length(text.substr(i));
    const std::string_view sequence = text.substr(i, length == 0 ? 1 : length);
    if (length == 0 || is_control(sequence)) {
      for (char c : sequence) out += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
    } else {
      out += sequence;
    }
    i += sequence.size();
  }
  if (i < text.size()) out += fmt::format("… ({} bytes)", text.size());
  return out;
}

}  // namespace onceover
