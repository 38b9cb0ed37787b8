#include "text/added_tokens.h"

#include <algorithm>

#include "base/utf8.h"
#include "text/unicode.h"

namespace onceover {
namespace {

size_t white_space_before(std::string_view text) {
  size_t start = text.size();
  while (start > 0) {
    size_t at = last_character(text.substr(0, start));
    const size_t character = at;
    if (!is_white_space(next_code_point(text, at))) break;
    start = character;
  }
  return start;
}

size_t white_space_after(std::string_view text, size_t end) {
  while (end < text.size()) {
    size_t at = end;
    if (!is_white_space(next_code_point(text, at))) break;
    end = at;
  }
  return end;
}

bool touches_a_word(std::string_view text, size_t start, size_t end) {
  if (end < text.size() && is_word_character(next_code_point(text, end))) return true;
  if (start == 0) return false;
  size_t at = last_character(text.substr(0, start));
  return is_word_character(next_code_point(text, at));
}

}  // namespace

void AddedTokenFinder::add(const AddedToken& token, const std::string& written) {
  begins_[static_cast<unsigned char>(written[0])] = true;
  size_t at = 0;
  for (const char c : written) {
    const auto [step, is_new] = nodes_[at].next.try_emplace(c, static_cast<uint32_t>(nodes_.size()));
    at = step->second;
    if (is_new) nodes_.emplace_back();
  }
  if (nodes_[at].token == nullptr) nodes_[at].token = &token;
}

AddedTokenFinder::Match AddedTokenFinder::longest_at(std::string_view text) const {
  Match match;
  const Node* node = &nodes_[0];
  for (size_t i = 0; i < text.size(); i++) {
    const auto step = node->next.find(text[i]);
    if (step == node->next.end()) break;
    node = &nodes_[step->second];
    if (node->token != nullptr) match = {node->token, i + 1};
  }
  return match;
}

std::vector<AddedTokenFinder::Stretch> AddedTokenFinder::find(std::string_view text,
                                                              const Allowed& allowed) const {
  std::vector<Stretch> stretches;
  size_t done = 0, at = 0;
  const auto begins = [&](char c) { return begins_[static_cast<unsigned char>(c)]; };
  while (true) {
    at = static_cast<size_t>(std::find_if(text.begin() + static_cast<ptrdiff_t>(at), text.end(), begins) -
                             text.begin());
    if (at == text.size()) break;
    const auto [token, bytes] = longest_at(text.substr(at));
    size_t start = at, end = at + bytes;
    at += std::max<size_t>(bytes, 1);
    if (token == nullptr || !allowed(*token, start, end)) continue;
    if (token->single_word && touches_a_word(text, start, end)) continue;
    if (token->lstrip) start = std::max(white_space_before(text.substr(0, start)), done);
    if (token->rstrip) at = end = white_space_after(text, end);
    if (done < start) stretches.push_back({text.substr(done, start - done)});
    stretches.push_back({text.substr(start, end - start), token});
    done = end;
  }
  if (done < text.size()) stretches.push_back({text.substr(done)});
  return stretches;
}

}  // namespace onceover
