#include "text/split_pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <new>

#include "base/error.h"
#include "base/printable.h"
#include "base/utf8.h"

namespace onceover {
namespace {

constexpr size_t max_pattern_bytes = size_t{16} << 10;
constexpr uint32_t cheap_steps = 1000, dear_steps = 5'000'000;
constexpr uint32_t max_match_kibibytes = 64 << 10;

// Oniguruma's \w: PCRE2's own has no marks and no connectors.
constexpr std::string_view word_characters = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}";

// Writes a pattern of Oniguruma as one of PCRE2.
class Translation {
 public:
  Translation(std::string_view pattern, const std::string& where) : rest_(pattern), where_(where) {}

  std::string run() {
    while (!rest_.empty()) {
      if (rest_[0] == '\\') {
        escape();
      } else if (in_class_) {
        inside_class();
      } else {
        outside_class();
      }
    }
    return std::move(out_);
  }

 private:
  [[noreturn]] void refuse(std::string_view what) const {
    throw Error("{}: a pattern with '{}' is not supported", where_, printable(what));
  }

  void take(size_t bytes) {
    out_ += rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
  }

  void replace(size_t bytes, std::string_view with) {
    out_ += with;
    rest_.remove_prefix(bytes);
  }

  void inside_class() {
    if (rest_[0] == '[') refuse("[ inside [ ]");
    if (rest_.starts_with("&&")) refuse("&& inside [ ]");
    if (rest_[0] == ']') in_class_ = false;
    take(1);
  }

  void outside_class() {
    if (rest_[0] == '^' || rest_[0] == '$') refuse(rest_.substr(0, 1));
    if (rest_.starts_with("}+")) refuse("}+");
    if (rest_[0] == '(') return group();
    if (rest_[0] != '[') return take(1);
    in_class_ = true;
    take(rest_.starts_with("[^") ? 2 : 1);
    if (rest_.starts_with("]")) refuse("[]");
  }

  void group() {
    for (const std::string_view known : {"(?:", "(?i:", "(?!", "(?=", "(?<!", "(?<=", "(?>"}) {
      if (rest_.starts_with(known)) return take(known.size());
    }
    if (rest_.starts_with("(?") || rest_.starts_with("(*")) refuse(rest_.substr(0, 3));
    take(1);
  }

  void escape() {
    const std::string_view two = rest_.substr(0, 2);
    if (two.size() < 2) refuse("\\ at the end");
    constexpr std::string_view same = "rntfdDxpP\\.[]{}()*+?|^$/-'\"#&~_=!<>:,;@%` ";
    if (two[1] == 's') return replace(2, "\\p{White_Space}");
    if (two[1] == 'S') return replace(2, "\\P{White_Space}");
    if (two[1] == 'w') return word(false);
    if (two[1] == 'W') return word(true);
    if (two[1] == 'u') return code_point();
    if (same.find(two[1]) == std::string_view::npos) refuse(two);
    const bool braces =
        std::string_view("pPx").find(two[1]) != std::string_view::npos && rest_.substr(2, 1) == "{";
    const size_t close = braces ? rest_.find('}') : 1;
    if (close == std::string_view::npos) refuse(rest_);
    take(close + 1);
  }

  void word(bool negated) {
    if (in_class_ && negated) refuse("\\W inside [ ]");
    replace(2, in_class_ ? std::string(word_characters)
                         : fmt::format("[{}{}]", negated ? "^" : "", word_characters));
  }

  void code_point() {
    const std::string_view digits = rest_.substr(2, 4);
    const bool hex = digits.size() == 4 && digits.find_first_not_of("0123456789abcdefABCDEF") == digits.npos;
    if (!hex) refuse("\\u without four hexadecimal digits");
    replace(6, fmt::format("\\x{{{}}}", digits));
  }

  std::string_view rest_;
  const std::string& where_;
  std::string out_;
  bool in_class_ = false;
};

void check_text(std::string_view pattern, const std::string& where) {
  if (pattern.empty()) throw Error("{}: the pattern is empty", where);
  if (pattern.size() > max_pattern_bytes)
    throw Error("{}: a pattern of {} bytes; at most {} are supported", where, pattern.size(),
                max_pattern_bytes);
  if (!is_utf8(pattern)) throw Error("{}: the pattern is not valid UTF-8", where);
}

template <class T>
T* required(T* made) {
  if (made == nullptr) throw std::bad_alloc();
  return made;
}

pcre2_code* compile(const std::string& pattern, uint32_t options, const std::string& where) {
  int error = 0;
  size_t at = 0;
  pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), options,
                                   &error, &at, nullptr);
  if (code != nullptr) return code;
  std::array<PCRE2_UCHAR, 256> message{};
  pcre2_get_error_message(error, message.data(), message.size());
  throw Error("{}: pattern '{}': {} at byte {}", where, printable(pattern),
              reinterpret_cast<const char*>(message.data()), at);
}

pcre2_match_context* make_context(uint32_t steps) {
  pcre2_match_context* context = required(pcre2_match_context_create(nullptr));
  pcre2_set_match_limit(context, steps);
  pcre2_set_heap_limit(context, max_match_kibibytes);
  return context;
}

bool over_limit(int found) {
  return found == PCRE2_ERROR_MATCHLIMIT || found == PCRE2_ERROR_DEPTHLIMIT ||
         found == PCRE2_ERROR_HEAPLIMIT || found == PCRE2_ERROR_JIT_STACKLIMIT;
}

}  // namespace

void SplitPattern::FreeCode::operator()(pcre2_code* code) const { pcre2_code_free(code); }
void SplitPattern::FreeContext::operator()(pcre2_match_context* c) const { pcre2_match_context_free(c); }
void SplitPattern::FreeMatch::operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }

SplitPattern SplitPattern::regex(std::string_view pattern, const std::string& where) {
  check_text(pattern, where);
  return SplitPattern(Translation(pattern, where).run(), PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C,
                      where);
}

SplitPattern SplitPattern::literal(std::string_view text, const std::string& where) {
  check_text(text, where);
  return SplitPattern(std::string(text), PCRE2_UTF | PCRE2_LITERAL, where);
}

SplitPattern::SplitPattern(const std::string& pattern, unsigned options, const std::string& where)
    : code_(compile(pattern, options, where)),
      cheap_(make_context(cheap_steps)),
      dear_(make_context(dear_steps)) {
  // Where the machine has no JIT, or the pattern is beyond it, the interpreter matches.
  pcre2_jit_compile(code_.get(), PCRE2_JIT_COMPLETE);
}

SplitPattern::Search SplitPattern::begin(std::string_view text) const {
  Search search{.text = text, .match = nullptr, .dear_cuts_left = 16 + text.size() / 1000};
  search.match.reset(required(pcre2_match_data_create_from_pattern(code_.get(), nullptr)));
  return search;
}

int SplitPattern::match(Search& search) const {
  const auto run = [&](uint32_t options, pcre2_match_context* context) {
    return pcre2_match(code_.get(), reinterpret_cast<PCRE2_SPTR>(search.text.data()), search.text.size(),
                       search.from, options | PCRE2_NO_UTF_CHECK, search.match.get(), context);
  };
  const int found = run(0, cheap_.get());
  if (!over_limit(found)) return found;
  if (search.dear_cuts_left-- == 0)
    throw Error("the pre-tokeniser's pattern takes too long on a text of {} bytes", search.text.size());
  const int again = run(0, dear_.get());
  return again == PCRE2_ERROR_JIT_STACKLIMIT ? run(PCRE2_NO_JIT, dear_.get()) : again;
}

bool SplitPattern::find(Search& search) const {
  while (search.from < search.text.size()) {
    const int found = match(search);
    if (found == PCRE2_ERROR_NOMATCH) return false;
    if (found < 0)
      throw Error("the pre-tokeniser's pattern {} at byte {} of a text of {} bytes",
                  over_limit(found) ? "takes too long" : fmt::format("fails (PCRE2 error {})", found),
                  search.from, search.text.size());
    const size_t* ends = pcre2_get_ovector_pointer(search.match.get());
    const size_t last_end = search.end;
    search.start = ends[0];
    search.end = ends[1];
    search.from = search.end;
    const bool empty = search.end == search.start;
    if (empty) search.from += std::max<size_t>(utf8_char_bytes(search.text.substr(search.end, 4)), 1);
    if (!empty || search.start > last_end) return true;
  }
  return false;
}

}  // namespace onceover
