// UTF-8 as it comes from files, models and users: possibly cut, possibly invalid.
//
// Well-formed means Unicode's table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace onceover {

// Bytes of the well-formed character at the start of `text`, 1 to 4; 0 when there is none.
size_t utf8_char_bytes(std::string_view text);

bool is_utf8(std::string_view text);

constexpr char32_t replacement_character = 0xFFFD;

// Reads the character at `at` and moves `at` past it. A byte that begins no well-formed character reads as
// U+FFFD. Needs at < text.size().
char32_t next_code_point(std::string_view text, size_t& at);

// Appends the 1 to 4 bytes of `code`, which must be at most U+10FFFF and no surrogate.
void append_utf8(std::string& text, char32_t code);

// How many bytes at the end of `text` are the beginning of a character whose rest is missing: 0 to 3.
size_t utf8_unfinished_bytes(std::string_view text);

// `bytes` for display: each byte that is no part of a well-formed character becomes one U+FFFD.
std::string display_utf8(std::string_view bytes);

// The largest place <= `limit` at which `text` can be cut without splitting a well-formed character.
size_t utf8_cut(std::string_view text, size_t limit);

}  // namespace onceover
