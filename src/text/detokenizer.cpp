#include "text/detokenizer.h"

#include <utility>

#include "base/utf8.h"

namespace onceover {

Detokenizer::Detokenizer(const Tokenizer& tokenizer, TextPosition position)
    : tokenizer_(tokenizer), drop_space_(position == TextPosition::Start && tokenizer.adds_leading_space()) {}

std::string Detokenizer::push(int id) {
  std::string_view piece = tokenizer_.piece_bytes(id);
  if (piece.empty()) return "";
  if (std::exchange(drop_space_, false) && piece.starts_with(' ')) piece.remove_prefix(1);
  held_ += piece;
  const size_t ready = held_.size() - utf8_unfinished_bytes(held_);
  std::string text = display_utf8(std::string_view(held_).substr(0, ready));
  held_.erase(0, ready);
  return text;
}

std::string Detokenizer::finish() { return display_utf8(std::exchange(held_, "")); }

}  // namespace onceover
