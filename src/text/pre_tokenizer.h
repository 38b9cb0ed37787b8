// The pre-tokeniser of a tokenizer.json: cuts text into the words that merges stay within.
//
// Supported: ByteLevel; Split by a regular expression or a text, behaviour Isolated, or Removed (inverted or
// not); Digits; Sequence of these, ByteLevel last. Any other type or behaviour is an Error that names it.
// Limits on patterns: split_pattern.h. Safe to use from several threads.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "text/json_reader.h"
#include "text/split_pattern.h"

namespace onceover {

class PreTokenizer {
 public:
  PreTokenizer() = default;  // a whole text is one word
  explicit PreTokenizer(const JsonReader& json);

  using Word = std::function<void(std::string_view)>;
  // `text` must be UTF-8. A space goes before it where ByteLevel wants one and `prefix` allows it.
  void split(std::string_view text, bool prefix, const Word& word) const { run(0, text, prefix, word); }

  bool byte_level() const { return byte_level_; }
  bool adds_prefix_space() const { return adds_prefix_space_; }
  // True when it can drop text.
  bool removes() const { return removes_; }

 private:
  enum class Keep { All, Matched, Unmatched };
  struct Step {
    SplitPattern pattern;
    Keep keep = Keep::All;
  };

  void add(const JsonReader& json);
  void add_split(const JsonReader& json);
  void add_byte_level(const JsonReader& json);
  void run(size_t step, std::string_view text, bool prefix, const Word& word) const;

  std::vector<Step> steps_;
  size_t prefix_step_ = 0;  // the space is put before the pieces that this step is given
  bool byte_level_ = false, adds_prefix_space_ = false, removes_ = false;
};

}  // namespace onceover
