#include "text/sentencepiece_normalizer.h"

#include <algorithm>

#include "base/utf8.h"

namespace onceover {
namespace {

constexpr std::string_view space_symbol = "\xE2\x96\x81", replacement_symbol = "\xEF\xBF\xBD";

void append_with_spaces(std::string& normal, std::string_view text) {
  for (size_t symbol; (symbol = text.find(space_symbol)) != text.npos;) {
    normal.append(text.substr(0, symbol)).append(1, ' ');
    text.remove_prefix(symbol + space_symbol.size());
  }
  normal += text;
}

std::string_view without_spaces_before(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

}  // namespace

SentencePieceNormalizer::SentencePieceNormalizer(const SentencePieceModel& model, const std::string& where)
    : map_(model.character_map, where), removes_spaces_(model.removes_spaces) {
  for (const auto& piece : model.pieces) {
    if (piece.type == SentencePieceModel::Type::UserDefined) symbols_.push_back(piece.text);
  }
  std::sort(symbols_.begin(), symbols_.end());
}

std::string SentencePieceNormalizer::apply(std::string_view text, bool prefix) const {
  while (removes_spaces_ && !text.empty()) {
    const Step step = next(text);
    if (step.text != " ") break;
    text.remove_prefix(step.bytes);
  }
  std::string normal;
  if (text.empty()) return normal;
  normal.reserve(text.size() + 1);
  if (prefix) normal += ' ';
  bool after_space = removes_spaces_;
  while (!text.empty()) {
    const Step step = next(text);
    text.remove_prefix(step.bytes);
    const std::string_view kept = after_space ? without_spaces_before(step.text) : step.text;
    if (kept.empty()) continue;
    append_with_spaces(normal, kept);
    after_space = removes_spaces_ && kept.ends_with(' ');
  }
  if (removes_spaces_) normal.erase(normal.find_last_not_of(' ') + 1);
  return normal;
}

SentencePieceNormalizer::Step SentencePieceNormalizer::next(std::string_view text) const {
  if (const size_t bytes = symbol_bytes(text); bytes > 0) return {bytes, text.substr(0, bytes)};
  if (const auto match = map_.longest(text); match.bytes > 0) return {match.bytes, match.replacement};
  const size_t bytes = utf8_char_bytes(text.substr(0, 4));
  if (bytes == 0) return {1, replacement_symbol};
  return {bytes, text.substr(0, bytes)};
}

// Bytes of the longest symbol that `text` begins with: of the sorted symbols, those that agree with it are a
// range, which each further byte makes smaller.
size_t SentencePieceNormalizer::symbol_bytes(std::string_view text) const {
  size_t longest = 0;
  auto begin = symbols_.begin(), end = symbols_.end();
  const auto byte_at = [](const std::string& symbol, size_t at) {
    return at < symbol.size() ? static_cast<unsigned char>(symbol[at]) : -1;
  };
  for (size_t at = 0; at < text.size() && begin != end; at++) {
    const int byte = static_cast<unsigned char>(text[at]);
    begin = std::partition_point(begin, end, [&](const auto& s) { return byte_at(s, at) < byte; });
    end = std::partition_point(begin, end, [&](const auto& s) { return byte_at(s, at) == byte; });
    if (begin != end && begin->size() == at + 1) longest = at + 1;
  }
  return longest;
}

}  // namespace onceover
