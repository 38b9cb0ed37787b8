#include "text/prompt_encoder.h"

#include <algorithm>

#include "base/utf8.h"
#include "text/unicode.h"

namespace onceover {
namespace {

bool is_plain(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const char32_t code = next_code_point(text, at);
    if (!is_white_space(code) && !is_word_character(code)) return false;
  }
  return true;
}

// Whether [start, end) has a byte in one of the spans.
bool touches(std::span<const ByteSpan> spans, size_t start, size_t end) {
  const auto after = std::partition_point(spans.begin(), spans.end(),
                                          [&](const ByteSpan& span) { return span.end <= start; });
  return after != spans.end() && after->start < end;
}

}  // namespace

void PromptEncoder::add(AddedToken token) {
  tokens_.push_back(std::move(token));
  finder_.add(tokens_.back(), tokens_.back().content);
}

std::vector<AddedTokenFinder::Stretch> PromptEncoder::find(std::string_view text,
                                                           std::span<const ByteSpan> input) const {
  return finder_.find(text, [&](const AddedToken& token, size_t start, size_t end) {
    return !touches(input, start, end) || (!token.special && is_plain(token.content));
  });
}

void PromptEncoder::encode(const Tokenizer& tokenizer, std::string_view text, std::span<const ByteSpan> input,
                           TextPosition position, std::vector<int>& ids) const {
  for (const auto& stretch : find(text, input)) {
    if (stretch.token != nullptr) {
      ids.push_back(stretch.token->id);
    } else {
      tokenizer.encode(stretch.text, position, ids);
    }
    position = TextPosition::Start;
  }
}

}  // namespace onceover
