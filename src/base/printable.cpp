#include "base/printable.h"

#include <fmt/format.h>

#include "base/utf8.h"

namespace onceover {
namespace {

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
    const size_t length = utf8_char_bytes(text.substr(i, 4));
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
