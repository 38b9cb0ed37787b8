// What Unicode says about characters (utf8proc, Unicode 15).
#pragma once
#include <string>
#include <string_view>

namespace onceover {

bool is_white_space(char32_t code);
// Letters, marks, decimal digits, connectors: \w of Unicode's annex on regular expressions, joiners included.
bool is_word_character(char32_t code);

// Where the last character of `text` starts; a byte that is no part of a well-formed character stands alone.
// Needs a text that is not empty.
size_t last_character(std::string_view text);

enum class NormalForm { C, KC };
// `text`, which must be UTF-8, in a normal form of Unicode 9: younger marks stay where they are, as in the
// library "tokenizers".
std::string normal_form(std::string_view text, NormalForm form);

}  // namespace onceover
