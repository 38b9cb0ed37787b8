// Text to be drawn: what must never reach a page or terminal, and how many columns the rest takes.
#pragma once
#include <string>
#include <string_view>

namespace onceover {

// Valid UTF-8 without control characters (tab and newline stay) or non-characters: these become U+FFFD.
std::string clean_text(std::string_view text);

// Terminal columns: East Asian wide characters and emoji take two. Combining marks are counted as one (never
// too few).
int text_columns(std::string_view text);

// At most `columns` columns of `text`; where something was cut the last column is "…".
std::string shorten(std::string_view text, int columns);

}  // namespace onceover
