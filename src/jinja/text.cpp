#include "jinja/text.h"

#include <utf8proc.h>

#include <algorithm>

#include "base/utf8.h"

namespace onceover::jinja {
namespace {

constexpr char32_t escaped_byte = 0xDC00;

bool equal(char32_t a, char32_t b) { return plain(a) == plain(b); }

utf8proc_category_t category(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(plain(c)));
}

// A text that is read from either end.
struct Characters {
  TextView text;
  bool backwards;

  size_t size() const { return text.size(); }
  char32_t operator[](size_t i) const { return plain(backwards ? text[text.size() - 1 - i] : text[i]); }
};

// For every start of `what`, how much of it its end repeats.
std::vector<size_t> borders_of(const Characters& what) {
  std::vector<size_t> borders(what.size());
  for (size_t i = 1, border = 0; i < what.size(); i++) {
    while (border > 0 && what[i] != what[border]) border = borders[border - 1];
    if (what[i] == what[border]) border++;
    borders[i] = border;
  }
  return borders;
}

// Where `what`, which is not empty, begins in the text, by Knuth, Morris and Pratt: std::search takes
// quadratic time for texts that are made for it.
size_t place_in(const Characters& text, const Characters& what) {
  if (what.size() > text.size()) return nowhere;
  const std::vector<size_t> borders = borders_of(what);
  for (size_t i = 0, found = 0; i < text.size(); i++) {
    while (found > 0 && text[i] != what[found]) found = borders[found - 1];
    if (text[i] == what[found]) found++;
    if (found == what.size()) return i + 1 - found;
  }
  return nowhere;
}

bool ends_line(char32_t c) {
  c = plain(c);
  return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

bool stripped(char32_t c, const TextView* chars) {
  return chars == nullptr
             ? is_space(c)
             : std::any_of(chars->begin(), chars->end(), [&](char32_t other) { return equal(c, other); });
}

}  // namespace

Text to_text(std::string_view utf8, Origin origin) {
  const char32_t mark = origin == Origin::Input ? input_mark : 0;
  Text text;
  text.reserve(utf8.size());
  for (size_t at = 0; at < utf8.size();) {
    const bool whole = utf8_char_bytes(utf8.substr(at, 4)) > 0;
    const auto byte = static_cast<unsigned char>(utf8[at]);
    const char32_t code = next_code_point(utf8, at);
    text += (whole ? code : escaped_byte + byte) | mark;
  }
  return text;
}

void append_utf8_of(std::string& bytes, char32_t c) {
  c = plain(c);
  if (c >= escaped_byte + 0x80 && c <= escaped_byte + 0xFF) {
    bytes += static_cast<char>(c - escaped_byte);
  } else if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) {
    append_utf8(bytes, replacement_character);
  } else {
    append_utf8(bytes, c);
  }
}

std::string to_utf8(TextView text) {
  std::string bytes;
  for (const char32_t c : text) append_utf8_of(bytes, c);
  return bytes;
}

bool same(TextView a, TextView b) { return std::equal(a.begin(), a.end(), b.begin(), b.end(), equal); }

int compare(TextView a, TextView b) {
  const auto [x, y] = std::mismatch(a.begin(), a.end(), b.begin(), b.end(), equal);
  if (x == a.end()) return y == b.end() ? 0 : -1;
  return y == b.end() || plain(*x) > plain(*y) ? 1 : -1;
}

size_t find(TextView text, TextView what, size_t from) {
  if (from > text.size()) return nowhere;
  if (what.empty()) return from;
  const size_t place = place_in({text.substr(from), false}, {what, false});
  return place == nowhere ? nowhere : from + place;
}

size_t rfind(TextView text, TextView what) {
  if (what.empty()) return text.size();
  const size_t place = place_in({text, true}, {what, true});
  return place == nowhere ? nowhere : text.size() - place - what.size();
}

bool starts_with(TextView text, TextView start) { return same(text.substr(0, start.size()), start); }

bool ends_with(TextView text, TextView end) {
  return text.size() >= end.size() && same(text.substr(text.size() - end.size()), end);
}

bool is_space(char32_t c) {
  c = plain(c);
  if (c < 0x80) return c == ' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
  return c == 0x85 || category(c) == UTF8PROC_CATEGORY_ZS || category(c) == UTF8PROC_CATEGORY_ZL ||
         category(c) == UTF8PROC_CATEGORY_ZP;
}

TextView strip_start(TextView text, const TextView* chars) {
  while (!text.empty() && stripped(text.front(), chars)) text.remove_prefix(1);
  return text;
}

TextView strip_end(TextView text, const TextView* chars) {
  while (!text.empty() && stripped(text.back(), chars)) text.remove_suffix(1);
  return text;
}

size_t count_of(TextView text, TextView what) {
  if (what.empty()) return text.size() + 1;
  size_t count = 0;
  for (size_t at = 0; (at = find(text, what, at)) != nowhere; at += what.size()) count++;
  return count;
}

Text replaced(TextView text, TextView from, TextView to, size_t most) {
  Text out;
  size_t done = 0;
  for (size_t at = 0; most > 0 && (at = find(text, from, at)) != nowhere; most--) {
    out.append(text.substr(done, at - done)).append(to);
    done = at + from.size();
    at = std::max(done, at + 1);
  }
  return out.append(text.substr(std::min(done, text.size())));
}

std::vector<TextView> lines_of(TextView text) {
  std::vector<TextView> lines;
  while (!text.empty()) {
    const auto end = static_cast<size_t>(std::find_if(text.begin(), text.end(), ends_line) - text.begin());
    lines.push_back(text.substr(0, end));
    const bool two = same(text.substr(end, 2), U"\r\n");
    text.remove_prefix(std::min(text.size(), end + (two ? 2 : 1)));
  }
  return lines;
}

bool is_letter(char32_t c) {
  const auto found = category(c);
  return found >= UTF8PROC_CATEGORY_LU && found <= UTF8PROC_CATEGORY_LO;
}

bool is_numeric(char32_t c) {
  const auto found = category(c);
  return found >= UTF8PROC_CATEGORY_ND && found <= UTF8PROC_CATEGORY_NO;
}

bool is_printable(char32_t c) {
  const auto found = category(c);
  if (found == UTF8PROC_CATEGORY_ZS) return plain(c) == ' ';
  return found != UTF8PROC_CATEGORY_CN && found < UTF8PROC_CATEGORY_ZS;
}

bool is_digit(char32_t c) { return category(c) == UTF8PROC_CATEGORY_ND; }
bool is_upper(char32_t c) { return category(c) == UTF8PROC_CATEGORY_LU; }
bool is_lower(char32_t c) { return category(c) == UTF8PROC_CATEGORY_LL; }

char32_t upper(char32_t c) {
  if (plain(c) == U'ß') return c;
  return static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(plain(c)))) | (c & input_mark);
}

char32_t lower(char32_t c) {
  return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(plain(c)))) | (c & input_mark);
}

}  // namespace onceover::jinja
