// Finds the special tokens of a prompt, which is partly what a program wrote and partly what a user did.
//
// Only what the program wrote can spell a special token. A token that is not special and is found in any
// text, such as a run of spaces, is found in the user's part only if it is nothing but white space, letters
// and digits: tokens like "<think>" or "<｜User｜>" are control tokens to their models, special or not.
#pragma once
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_span.h"
#include "text/added_tokens.h"
#include "text/tokenizer.h"

namespace onceover {

class PromptEncoder {
 public:
  void add(AddedToken token);

  // Stretches of `text` without what `input` forbids: spans in order, of what the user wrote.
  std::vector<AddedTokenFinder::Stretch> find(std::string_view text, std::span<const ByteSpan> input) const;

  // Appends the ids of the tokens found, and of what is between them by `tokenizer`.
  void encode(const Tokenizer& tokenizer, std::string_view text, std::span<const ByteSpan> input,
              TextPosition position, std::vector<int>& ids) const;

 private:
  std::deque<AddedToken> tokens_;  // the finder points to them
  AddedTokenFinder finder_;
};

}  // namespace onceover
