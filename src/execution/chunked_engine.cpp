#include "execution/chunked_engine.h"

#include <algorithm>

#include "base/error.h"

namespace onceover {

void ChunkedEngine::require_tokens(std::span<const int32_t> tokens) const {
  if (tokens.empty()) throw Error("cannot feed an engine no tokens");
  for (int32_t token : tokens) {
    if (token < 0 || token >= vocabulary()) {
      throw Error("token {} is outside the vocabulary of {}", token, vocabulary());
    }
  }
}

std::span<const float> ChunkedEngine::feed(std::span<const int32_t> tokens) {
  require_tokens(tokens);
  logits_.resize(static_cast<size_t>(vocabulary()));
  while (!tokens.empty()) {
    const size_t count = std::min<size_t>(tokens.size(), chunk_tokens);
    run(tokens.first(count), count == tokens.size() ? 1 : 0, logits_.data());
    tokens = tokens.subspan(count);
  }
  return logits_;
}

std::span<const float> ChunkedEngine::feed_all(std::span<const int32_t> tokens) {
  require_tokens(tokens);
  logits_.resize(tokens.size() * static_cast<size_t>(vocabulary()));
  for (float* logits = logits_.data(); !tokens.empty();) {
    const size_t count = std::min<size_t>(tokens.size(), chunk_tokens);
    run(tokens.first(count), static_cast<int64_t>(count), logits);
    logits += count * static_cast<size_t>(vocabulary());
    tokens = tokens.subspan(count);
  }
  return logits_;
}

}  // namespace onceover
