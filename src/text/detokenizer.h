// Text from tokens as they come, never splitting a character.
//
// The concatenation of all push() results and of finish() is display_utf8(decode(ids)): bytes that may still
// become a character are held back (at most 3), bytes that cannot are shown as U+FFFD. One thread per object.
#pragma once
#include <string>

#include "text/tokenizer.h"

namespace onceover {

class Detokenizer {
 public:
  // `position` Inside: the text goes on after a prompt, so a leading space is part of it.
  // The tokeniser must outlive this object.
  explicit Detokenizer(const Tokenizer& tokenizer, TextPosition position = TextPosition::Start);

  // The characters that `id` completes, perhaps none.
  std::string push(int id);

  // What was held back, as U+FFFD. The object then stands Inside.
  std::string finish();

 private:
  const Tokenizer& tokenizer_;
  bool drop_space_;
  std::string held_;
};

}  // namespace onceover
