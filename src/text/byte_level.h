// GPT-2's byte-level alphabet (Radford et al. 2019): one visible character for each byte, so that a
// vocabulary of texts can hold any bytes.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace onceover {

// By byte, UTF-8. Printable Latin-1 stands for itself, the other 68 bytes take U+0100 and on, in order.
const std::array<std::string, 256>& byte_level_alphabet();

// The bytes that a text of the alphabet stands for; none when a character is outside the alphabet.
std::optional<std::string> bytes_of_byte_level(std::string_view text);

}  // namespace onceover
