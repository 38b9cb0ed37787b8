// A regular expression that cuts text into words, as tokenizer.json holds it.
//
// Run by PCRE2 with JIT. The Hugging Face library runs Oniguruma (syntax Ruby); what the two read differently
// is translated (\s, \w, \uHHHH) or refused by name ($, ^, `}+`, nested classes, every escape and group that
// is not listed in split_pattern.cpp), never guessed. Characters are those of Unicode 14.
//
// Time is bounded, whatever the pattern: a cut that takes more than 5 million steps of the matcher is an
// Error, and so is a text of n bytes with more than 16 + n / 1000 cuts of over 1000 steps. Safe to use from
// several threads.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

struct pcre2_real_code_8;
struct pcre2_real_match_context_8;
struct pcre2_real_match_data_8;

namespace onceover {

class SplitPattern {
 public:
  // Error, naming `where`, when the pattern is not UTF-8, longer than 16 KiB, wrong or not supported.
  static SplitPattern regex(std::string_view pattern, const std::string& where);
  // One that matches `text` itself, which must not be empty.
  static SplitPattern literal(std::string_view text, const std::string& where);

  // Calls piece(std::string_view, bool matched) for each stretch of `text`, in order: the matches and what is
  // between them, none of them empty. `text` must be UTF-8.
  template <class F>
  void split(std::string_view text, F piece) const {
    Search search = begin(text);
    size_t done = 0;
    while (find(search)) {
      if (search.start > done) piece(text.substr(done, search.start - done), false);
      if (search.end > search.start) piece(text.substr(search.start, search.end - search.start), true);
      done = search.end;
    }
    if (done < text.size()) piece(text.substr(done), false);
  }

 private:
  struct FreeCode {
    void operator()(pcre2_real_code_8* code) const;
  };
  struct FreeContext {
    void operator()(pcre2_real_match_context_8* context) const;
  };
  struct FreeMatch {
    void operator()(pcre2_real_match_data_8* match) const;
  };

  struct Search {
    std::string_view text;
    std::unique_ptr<pcre2_real_match_data_8, FreeMatch> match;
    size_t from = 0;            // where to look on
    size_t start = 0, end = 0;  // of the match found last
    size_t dear_cuts_left;      // that may take more than the few steps of a usual cut
  };

  SplitPattern(const std::string& pattern, unsigned options, const std::string& where);
  Search begin(std::string_view text) const;
  bool find(Search& search) const;
  int match(Search& search) const;

  std::unique_ptr<pcre2_real_code_8, FreeCode> code_;
  std::unique_ptr<pcre2_real_match_context_8, FreeContext> cheap_, dear_;
};

}  // namespace onceover
