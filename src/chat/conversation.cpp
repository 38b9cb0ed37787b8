#include "chat/conversation.h"

#include <algorithm>

#include "base/error.h"

namespace onceover {
namespace {

// The part of the spans from byte `start` on, counted from there.
std::vector<ByteSpan> spans_from(const std::vector<ByteSpan>& spans, size_t start) {
  std::vector<ByteSpan> rest;
  for (const ByteSpan& span : spans) {
    if (span.end > start) rest.push_back({std::max(span.start, start) - start, span.end - start});
  }
  return rest;
}

}  // namespace

void Conversation::add(const std::string& role, const std::string& content) {
  messages_.push_back({{"role", role}, {"content", content}});
}

// What the engine was given goes on, where the text does.
std::vector<int> Conversation::tokens_for(const jinja::Rendered& prompt) const {
  if (text_.empty() || !prompt.text.starts_with(text_)) return prompt_ids(prompt, tokenizer_);
  std::vector<int> tokens = tokens_;
  const auto more = tokenizer_.encode_prompt(std::string_view(prompt.text).substr(text_.size()),
                                             spans_from(prompt.input, text_.size()), TextPosition::Inside);
  tokens.insert(tokens.end(), more.begin(), more.end());
  return tokens;
}

Conversation::Answer Conversation::say(const std::string& content, const GenerateRequest& settings,
                                       const std::function<bool(const std::string&)>& show) {
  add("user", content);
  try {
    return answer(settings, show);
  } catch (...) {
    messages_.erase(messages_.size() - 1);
    throw;
  }
}

Conversation::Answer Conversation::answer(const GenerateRequest& settings,
                                          const std::function<bool(const std::string&)>& show) {
  const jinja::Rendered prompt = template_.render({.messages = messages_}, tokenizer_);
  std::vector<int> tokens = tokens_for(prompt);
  if (static_cast<int64_t>(tokens.size()) >= context_)
    throw Error("the conversation has {} tokens, the model's context is {}", tokens.size(), context_);
  const auto held = static_cast<size_t>(engine_.tokens());
  const bool goes_on =
      held < tokens.size() && held <= tokens_.size() &&
      std::equal(tokens_.begin(), tokens_.begin() + static_cast<ptrdiff_t>(held), tokens.begin());
  if (!goes_on) engine_.reset();
  const auto kept = tokens.begin() + engine_.tokens();
  GenerateRequest request = settings;
  request.before.assign(tokens.begin(), kept);
  request.prompt.assign(kept, tokens.end());
  if (end_.token) request.ends.push_back(*end_.token);
  if (!end_.text.empty()) request.stops.push_back(end_.text);
  request.context = context_;
  Answer answer{{}, tokens.size(), request.prompt.size()};
  tokens_ = std::move(tokens);
  text_ = prompt.text;
  std::string shown;
  answer.result = generate(engine_, tokenizer_, request, [&](const std::string& text) {
    shown += text;
    return show(text);
  });
  for (const int32_t token : answer.result.tokens) {
    tokens_.push_back(token);
    text_ += tokenizer_.piece_bytes(token);
  }
  add("assistant", shown);
  return answer;
}

}  // namespace onceover
