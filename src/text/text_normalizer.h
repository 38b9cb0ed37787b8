// The normaliser of a tokenizer.json: what is done to text before it is cut into words.
//
// Supported: NFC, NFKC, Prepend, Replace of a text by a text, Sequence of these. Any other type is an Error
// that names it. Safe to use from several threads.
#pragma once
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "text/json_reader.h"
#include "text/unicode.h"

namespace onceover {

class TextNormalizer {
 public:
  TextNormalizer() = default;
  explicit TextNormalizer(const JsonReader& json);

  struct Prepend {
    std::string text;
  };
  struct Replace {
    std::string from, to;
  };
  using Step = std::variant<NormalForm, Prepend, Replace>;
  const std::vector<Step>& steps() const { return steps_; }

  // `text` must be UTF-8. What is prepended is so only where `prepend` says; nothing to an empty text, as in
  // the Hugging Face library.
  std::string apply(std::string_view text, bool prepend) const;

  // True when it does no more than write a space as "▁", and perhaps one more before the text.
  bool marks_spaces_only() const;
  bool marks_spaces() const;
  bool prepends() const;
  bool empty() const { return steps_.empty(); }

 private:
  void add(const JsonReader& json);

  std::vector<Step> steps_;
};

}  // namespace onceover
