#include "text/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/utf8.h"

namespace onceover {
namespace {

bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

using Codes = std::vector<utf8proc_int32_t>;

void append_decomposed(char32_t code, utf8proc_option_t options, Codes& codes) {
  std::array<utf8proc_int32_t, 32> parts;  // 18 are the most
  int state = 0;
  const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code), parts.data(),
                                             std::ssize(parts), options, &state);
  if (count < 0 || count > std::ssize(parts))
    throw Error("a text cannot be normalised: {}", utf8proc_errmsg(std::min<utf8proc_ssize_t>(count, 0)));
  codes.insert(codes.end(), parts.begin(), parts.begin() + count);
}

int combining_class(utf8proc_int32_t code) { return utf8proc_get_property(code)->combining_class; }

// Marks behind a character in the order of their classes. utf8proc would sort them by exchanging neighbours,
// which takes hours for a megabyte of marks.
void sort_marks(Codes& codes) {
  for (auto first = codes.begin(); first != codes.end();) {
    first = std::find_if(first, codes.end(), combining_class);
    const auto last = std::find_if_not(first, codes.end(), combining_class);
    std::stable_sort(first, last, [](auto a, auto b) { return combining_class(a) < combining_class(b); });
    first = last;
  }
}

void append_normal_form(std::string_view text, NormalForm form, std::string& out) {
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE |
                                                      (form == NormalForm::KC ? UTF8PROC_COMPAT : 0));
  Codes codes;
  for (size_t at = 0; at < text.size();) append_decomposed(next_code_point(text, at), options, codes);
  sort_marks(codes);
  const auto count = utf8proc_normalize_utf32(codes.data(), std::ssize(codes), options);
  if (count < 0) throw Error("a text cannot be normalised: {}", utf8proc_errmsg(count));
  codes.resize(static_cast<size_t>(count));
  for (const auto code : codes) append_utf8(out, static_cast<char32_t>(code));
}

// Combining marks younger than Unicode 9, in order: the library "tokenizers" normalises by its tables, to
// which these are no marks, so they stay where they are and nothing moves past them.
constexpr std::pair<char32_t, char32_t> younger_marks[] = {
    {0x7FD, 0x7FD},     {0x898, 0x89F},     {0x8CA, 0x8D3},     {0x9FE, 0x9FE},     {0xC3C, 0xC3C},
    {0xD3B, 0xD3C},     {0xEBA, 0xEBA},     {0x1715, 0x1715},   {0x1ABF, 0x1ACE},   {0x1DF6, 0x1DFA},
    {0xA82C, 0xA82C},   {0x10D24, 0x10D27}, {0x10EAB, 0x10EAC}, {0x10EFD, 0x10EFF}, {0x10F46, 0x10F50},
    {0x10F82, 0x10F85}, {0x11070, 0x11070}, {0x1133B, 0x1133B}, {0x1145E, 0x1145E}, {0x11839, 0x1183A},
    {0x1193D, 0x1193E}, {0x11943, 0x11943}, {0x119E0, 0x119E0}, {0x11A34, 0x11A34}, {0x11A47, 0x11A47},
    {0x11A99, 0x11A99}, {0x11D42, 0x11D42}, {0x11D44, 0x11D45}, {0x11D97, 0x11D97}, {0x11F41, 0x11F42},
    {0x16FF0, 0x16FF1}, {0x1E08F, 0x1E08F}, {0x1E130, 0x1E136}, {0x1E2AE, 0x1E2AE}, {0x1E2EC, 0x1E2EF},
    {0x1E4EC, 0x1E4EF}};

bool is_younger_mark(char32_t code) {
  const auto found = std::lower_bound(std::begin(younger_marks), std::end(younger_marks), code,
                                      [](const auto& range, char32_t c) { return range.second < c; });
  return found != std::end(younger_marks) && found->first <= code;
}

// Stretches between younger marks, each in its normal form, and the marks.
void append_normal_forms(std::string_view text, NormalForm form, std::string& out) {
  size_t done = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t start = at;
    if (!is_younger_mark(next_code_point(text, at))) continue;
    append_normal_form(text.substr(done, start - done), form, out);
    out += text.substr(start, at - start);
    done = at;
  }
  append_normal_form(text.substr(done), form, out);
}

}  // namespace

bool is_white_space(char32_t code) {
  if (code < 0x80) return code == ' ' || (code >= 9 && code <= 13);
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(code));
  return code == 0x85 || category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL ||
         category == UTF8PROC_CATEGORY_ZP;
}

bool is_word_character(char32_t code) {
  const auto within = [&](char32_t first, char32_t last) { return code >= first && code <= last; };
  if (within(0x200C, 0x200D)) return true;
  // Symbols with the property Alphabetic: letters in circles and squares.
  if (within(0x24B6, 0x24E9) || within(0x1F130, 0x1F149) || within(0x1F150, 0x1F169) ||
      within(0x1F170, 0x1F189))
    return true;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(code))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
      return true;
    default:
      return false;
  }
}

size_t last_character(std::string_view text) {
  for (size_t bytes = 1; bytes <= std::min<size_t>(4, text.size()); bytes++) {
    if (utf8_char_bytes(text.substr(text.size() - bytes)) == bytes) return text.size() - bytes;
  }
  return text.size() - 1;
}

// An ASCII character is its own normal form and joins nothing before it: the text can be cut there.
std::string normal_form(std::string_view text, NormalForm form) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto other = std::find_if_not(text.begin(), text.end(), is_ascii);
    const auto plain = static_cast<size_t>(other - text.begin());
    const size_t kept = plain == text.size() ? plain : plain - std::min<size_t>(plain, 1);
    out += text.substr(0, kept);
    text.remove_prefix(kept);
    if (text.empty()) break;
    const auto end = std::find_if(text.begin() + 1, text.end(), is_ascii);
    const auto bytes = static_cast<size_t>(end - text.begin());
    append_normal_forms(text.substr(0, bytes), form, out);
    text.remove_prefix(bytes);
  }
  return out;
}

}  // namespace onceover
