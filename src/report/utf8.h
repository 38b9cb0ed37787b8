// The little that drawing text needs to know of UTF-8: code points, columns, and what must never reach a page
// or terminal.
#pragma once
#include <string>
#include <string_view>

namespace onceover {

constexpr char32_t replacement_character = 0xFFFD;

// Reads the code point at `at` and moves `at` past it. An invalid or overlong sequence, or a surrogate, reads
// as U+FFFD and takes one byte. Needs at < text.size().
char32_t next_code_point(std::string_view text, size_t& at);

void append_utf8(std::string& text, char32_t code);

// Valid UTF-8 without control characters (tab and newline stay) or non-characters: these become U+FFFD.
std::string clean_text(std::string_view text);

// Terminal columns: East Asian wide characters and emoji take two. Combining marks are counted as one (never
// too few).
int text_columns(std::string_view text);

// At most `columns` columns of `text`; where something was cut the last column is "…".
std::string shorten(std::string_view text, int columns);

}  // namespace onceover
