// Text of a template run: characters that remember where they came from.
//
// A character is a code point; the top bit says that it came from the input and not from the template. It
// stays with the character through every operation, so that what a user wrote is told from what the template
// wrote in the finished prompt. A byte that is no part of a well-formed character is kept as U+DC80 + byte -
// 0x80, as Python's surrogateescape does. Comparisons ignore the mark.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace onceover::jinja {

using Text = std::u32string;
using TextView = std::u32string_view;

constexpr char32_t input_mark = char32_t{1} << 31;
enum class Origin { Template, Input };

inline char32_t plain(char32_t c) { return c & ~input_mark; }

Text to_text(std::string_view utf8, Origin origin = Origin::Template);
// The bytes that the characters stand for.
std::string to_utf8(TextView text);
void append_utf8_of(std::string& bytes, char32_t c);

bool same(TextView a, TextView b);
// Negative, 0 or positive, by code points.
int compare(TextView a, TextView b);

constexpr size_t nowhere = TextView::npos;
// As std::string's, without regard to marks. An empty `what` is found at `from`.
size_t find(TextView text, TextView what, size_t from = 0);
size_t rfind(TextView text, TextView what);
bool starts_with(TextView text, TextView start);
bool ends_with(TextView text, TextView end);

bool is_space(char32_t c);  // Python's str.isspace
// Without the characters of `chars` at either end; white space where `chars` is null.
TextView strip_start(TextView text, const TextView* chars = nullptr);
TextView strip_end(TextView text, const TextView* chars = nullptr);

// How often it occurs, not counting what overlaps; between all characters where it is empty.
size_t count_of(TextView text, TextView what);
Text replaced(TextView text, TextView from, TextView to, size_t most);
// Python's str.splitlines.
std::vector<TextView> lines_of(TextView text);

bool is_letter(char32_t c);
bool is_numeric(char32_t c);    // Python's str.isnumeric, of characters that are no letters
bool is_printable(char32_t c);  // Python's str.isprintable
bool is_digit(char32_t c);
bool is_upper(char32_t c);
bool is_lower(char32_t c);
// Character by character: what grows in upper case stays as it is.
char32_t upper(char32_t c);
char32_t lower(char32_t c);

}  // namespace onceover::jinja
