// What a tokeniser owes a text, whatever file it was read from.
#pragma once
#include <string>

#include "answer.h"
#include "text/tokenizer.h"

namespace onceover {

inline void expect_texts(const Tokenizer& tokenizer) {
  const std::string text = " a  b\n\xFF\xE2\x96\x81<s>\xC3\xA9 ab 12";
  const auto ids = tokenizer.encode(text);
  if (tokenizer.is_exact() && tokenizer.decode(ids) != text) std::abort();
  tokenizer.decode(tokenizer.encode_prompt(text, {}));
  tokenizer.fingerprint();
}

}  // namespace onceover
