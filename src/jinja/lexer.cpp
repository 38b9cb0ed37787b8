#include "jinja/lexer.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/error.h"
#include "base/printable.h"
#include "jinja/located.h"

namespace onceover::jinja {
namespace {

using Kind = Token::Kind;

constexpr size_t max_source_bytes = size_t{1} << 20, max_name_characters = 200;

bool is_ascii_digit(char32_t c) { return c >= '0' && c <= '9'; }
bool begins_name(char32_t c) { return c == '_' || is_letter(c); }
bool continues_name(char32_t c) { return begins_name(c) || is_digit(c); }

Text with_plain_newlines(TextView source) {
  Text out;
  for (size_t i = 0; i < source.size(); i++) {
    if (source[i] != '\r') {
      out += source[i];
    } else if (i + 1 == source.size() || source[i + 1] != '\n') {
      out += '\n';
    }
  }
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

class Lexer {
 public:
  Lexer(TextView source, const std::string& where) : rest_(source), where_(where) {}

  std::vector<Token> run() {
    while (!rest_.empty()) data();
    add(Kind::End);
    return std::move(tokens_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const { throw_at(where_, at_, what); }

  void add(Kind kind) { tokens_.push_back({kind, at_, ""}); }

  // Moves past `count` characters.
  void skip(size_t count) {
    for (const char32_t c : rest_.substr(0, count)) {
      at_.column = c == '\n' ? 1 : at_.column + 1;
      at_.line += c == '\n';
    }
    if (count > 0) line_starting_ = rest_[count - 1] == '\n';
    rest_.remove_prefix(count);
  }

  void skip_space() { skip(rest_.size() - strip_start(rest_).size()); }

  size_t tag_start() const {
    size_t at = rest_.find(U'{');
    while (at != nowhere) {
      const char32_t next = at + 1 < rest_.size() ? rest_[at + 1] : 0;
      if (next == '{' || next == '%' || next == '#') return at;
      at = rest_.find(U'{', at + 1);
    }
    return rest_.size();
  }

  // Text up to a tag, without what the tag strips from it.
  void data() {
    const size_t start = tag_start();
    TextView text = rest_.substr(0, start);
    if (start < rest_.size()) {
      const char32_t kind = rest_[start + 1], sign = start + 2 < rest_.size() ? rest_[start + 2] : 0;
      if (sign == '-') {
        text = strip_end(text);
      } else if (sign != '+' && kind != '{') {
        text = without_indentation(text);
      }
    }
    add_data(text);
    skip(start);
    if (!rest_.empty()) tag();
  }

  TextView without_indentation(TextView text) const {
    const size_t newline = text.rfind(U'\n');
    if (newline == nowhere && !line_starting_) return text;
    const size_t line = newline == nowhere ? 0 : newline + 1;
    return strip_start(text.substr(line)).empty() ? text.substr(0, line) : text;
  }

  void add_data(TextView text) {
    if (text.empty()) return;
    add(Kind::Data);
    tokens_.back().text = text;
  }

  void tag() {
    const Position start = at_;
    const char32_t kind = rest_[1];
    if (kind == '%' && raw(start)) return;
    if (kind == '#') return comment(start);
    add(kind == '{' ? Kind::OutputBegin : Kind::BlockBegin);
    skip(rest_.size() > 2 && (rest_[2] == '-' || rest_[2] == '+') ? 3 : 2);
    const Kind end = kind == '{' ? Kind::OutputEnd : Kind::BlockEnd;
    const TextView closing = kind == '{' ? TextView(U"}}") : TextView(U"%}");
    while (true) {
      skip_space();
      if (rest_.empty()) throw_at(where_, start, "this tag is not closed");
      if (open_.empty() && close(closing, end)) return;
      word();
    }
  }

  // The end of a tag, with the white space that it strips.
  bool close(TextView closing, Kind kind) {
    const bool block = kind != Kind::OutputEnd;
    const bool minus = rest_[0] == '-', plus = block && rest_[0] == '+';
    if (!rest_.substr(minus || plus ? 1 : 0).starts_with(closing)) return false;
    if (kind != Kind::Data) add(kind);
    skip(closing.size() + (minus || plus ? 1 : 0));
    line_starting_ = false;
    if (minus) skip_space();
    if (block && !minus && !plus && rest_.starts_with(U'\n')) skip(1);
    return true;
  }

  void comment(const Position& start) {
    skip(rest_.size() > 2 && (rest_[2] == '-' || rest_[2] == '+') ? 3 : 2);
    while (!rest_.empty()) {
      if (close(U"#}", Kind::Data)) return;
      skip(1);
    }
    throw_at(where_, start, "this comment is not closed");
  }

  // The length of "{% NAME %}" at the start of `text`, its end left out; 0 when it is not there.
  static size_t tag_named(TextView text, TextView name) {
    if (!text.starts_with(U"{%")) return 0;
    TextView rest = text.substr(2);
    if (rest.starts_with(U'-') || rest.starts_with(U'+')) rest.remove_prefix(1);
    rest = strip_start(rest);
    if (!rest.starts_with(name)) return 0;
    rest = strip_start(rest.substr(name.size()));
    const bool closes = rest.starts_with(U"%}") || rest.starts_with(U"-%}") || rest.starts_with(U"+%}");
    return closes ? text.size() - rest.size() : 0;
  }

  bool raw(const Position& start) {
    const size_t begin = tag_named(rest_, U"raw");
    if (begin == 0) return false;
    skip(begin);
    if (rest_[0] == '+') refuse("'+%}' after raw is not supported");
    const bool minus = rest_[0] == '-';
    skip(minus ? 3 : 2);
    if (minus) skip_space();
    for (size_t at = rest_.find(U"{%"); at != nowhere; at = rest_.find(U"{%", at + 1)) {
      const size_t end = tag_named(rest_.substr(at), U"endraw");
      if (end == 0) continue;
      TextView text = rest_.substr(0, at);
      const char32_t sign = rest_[at + 2];
      add_data(sign == '-' ? strip_end(text) : sign == '+' ? text : without_indentation(text));
      skip(at + end);
      return close(U"%}", Kind::Data);
    }
    throw_at(where_, start, "this raw block is not closed");
  }

  void word() {
    const char32_t c = rest_[0];
    if (is_ascii_digit(c)) return number();
    if (begins_name(c)) return name();
    if (c == '\'' || c == '"') return string();
    operation();
  }

  void name() {
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), continues_name);
    const auto length = static_cast<size_t>(end - rest_.begin());
    if (length > max_name_characters)
      refuse(fmt::format("a name of {} characters, expected at most {}", length, max_name_characters));
    add(Kind::Name);
    tokens_.back().word = to_utf8(rest_.substr(0, length));
    skip(length);
  }

  // Digits with single underscores between them.
  size_t digits(size_t from) const {
    size_t at = from;
    while (at < rest_.size() &&
           (is_ascii_digit(rest_[at]) ||
            (rest_[at] == '_' && at > from && at + 1 < rest_.size() && is_ascii_digit(rest_[at + 1]))))
      at++;
    return at;
  }

  void number() {
    size_t end = digits(0);
    bool real = false;
    const auto at = [&](size_t i) { return i < rest_.size() ? rest_[i] : 0; };
    const auto refuse_form = [&] { refuse("a number of this form is not supported"); };
    // "x.0.1" has two indices and no fraction.
    const bool is_index = !tokens_.empty() && tokens_.back().word == ".";
    if (!is_index && at(end) == '.' && is_ascii_digit(at(end + 1))) real = true, end = digits(end + 1);
    const size_t sign = at(end + 1) == '-' || at(end + 1) == '+' ? 1 : 0;
    if (!is_index && (at(end) == 'e' || at(end) == 'E') && is_ascii_digit(at(end + 1 + sign)))
      real = true, end = digits(end + 1 + sign);
    if (continues_name(at(end))) refuse_form();
    if (!real && rest_[0] == '0' && rest_.substr(0, end).find_first_not_of(U"0_") != nowhere) refuse_form();
    std::string word = to_utf8(rest_.substr(0, end));
    std::erase(word, '_');
    add(real ? Kind::Float : Kind::Integer);
    Token& token = tokens_.back();
    const char* last = word.data() + word.size();
    const auto read = real ? std::from_chars(word.data(), last, token.number)
                           : std::from_chars(word.data(), last, token.integer);
    if (read.ec != std::errc()) refuse(fmt::format("the number {} does not fit", printable(word, 40)));
    skip(end);
  }

  void string() {
    const char32_t quote = rest_[0];
    add(Kind::String);
    size_t at = 1;
    while (at < rest_.size() && rest_[at] != quote) {
      if (rest_[at] == '\\') {
        at = escape(at + 1);
      } else {
        tokens_.back().text += rest_[at++];
      }
    }
    if (at >= rest_.size()) refuse("this text is not closed");
    skip(at + 1);
  }

  // What stands behind a backslash, as in Python; the place after it.
  size_t escape(size_t at) {
    constexpr TextView names = U"ntr0abfv\\'\"\n";
    constexpr TextView meanings = U"\n\t\r\0\a\b\f\v\\'\"";
    Text& text = tokens_.back().text;
    if (at >= rest_.size()) refuse("this text is not closed");
    const char32_t c = rest_[at];
    if (c == 'x') return code_point(at + 1, 2);
    if (c == 'u') return code_point(at + 1, 4);
    if (c == 'U') return code_point(at + 1, 8);
    if (c == 'N' || is_ascii_digit(at + 1 < rest_.size() && c == '0' ? rest_[at + 1] : c == '0' ? 0 : c))
      refuse(fmt::format("the escape \\{} is not supported", static_cast<char>(c)));
    if (c > 0x7F) refuse("a backslash before this character is not supported");
    const size_t known = names.find(c);
    if (known == nowhere) text += '\\';
    if (c != '\n') text += known == nowhere ? c : meanings[known];
    return at + 1;
  }

  size_t code_point(size_t at, size_t count) {
    const std::string word = to_utf8(rest_.substr(at, count));
    uint32_t code = 0;
    const auto read = std::from_chars(word.data(), word.data() + word.size(), code, 16);
    const bool whole = word.size() == count && read.ptr == word.data() + word.size();
    if (!whole || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
      refuse(
          fmt::format("expected {} hexadecimal digits of a character, found '{}'", count, printable(word)));
    tokens_.back().text += static_cast<char32_t>(code);
    return at + count;
  }

  void operation() {
    constexpr std::array<TextView, 26> operators{U"//", U"**", U"==", U"!=", U">=", U"<=", U"+", U"-", U"/",
                                                 U"*",  U"%",  U"~",  U"[",  U"]",  U"(",  U")", U"{", U"}",
                                                 U">",  U"<",  U"=",  U".",  U":",  U"|",  U",", U";"};
    const auto known = std::find_if(operators.begin(), operators.end(),
                                    [&](TextView one) { return rest_.starts_with(one); });
    if (known == operators.end())
      refuse(fmt::format("unexpected character '{}'", printable(to_utf8(rest_.substr(0, 1)))));
    balance((*known)[0]);
    add(Kind::Operator);
    tokens_.back().word = to_utf8(*known);
    skip(known->size());
  }

  void balance(char32_t c) {
    constexpr TextView opening = U"([{", closing = U")]}";
    if (opening.find(c) != nowhere) open_ += c;
    const size_t closes = closing.find(c);
    if (closes == nowhere) return;
    if (!open_.ends_with(opening[closes])) refuse(fmt::format("unexpected '{}'", static_cast<char>(c)));
    open_.pop_back();
  }

  TextView rest_;
  const std::string& where_;
  Position at_;
  bool line_starting_ = true;  // what was last consumed ended with a newline
  Text open_;                  // brackets
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view source, const std::string& where) {
  if (source.size() > max_source_bytes)
    throw Error("{}: a template of {} bytes, expected at most {}", where, source.size(), max_source_bytes);
  const Text text = with_plain_newlines(to_text(source));
  return Lexer(text, where).run();
}

}  // namespace onceover::jinja
