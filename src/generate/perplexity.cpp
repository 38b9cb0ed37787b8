#include "generate/perplexity.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace onceover {
namespace {

double negative_log_likelihood(std::span<const float> logits, int32_t target) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - largest);
  return std::log(sum) + largest - logits[static_cast<size_t>(target)];
}

// Feeds `inputs` and scores what follows each of them.
void score(Engine& engine, std::span<const int32_t> inputs, std::span<const int32_t> targets,
           TokenLosses& losses) {
  constexpr size_t rows_at_once = 64;  // logits of a large vocabulary take room
  const auto width = static_cast<size_t>(engine.vocabulary());
  for (size_t at = 0; at < inputs.size(); at += rows_at_once) {
    const size_t rows = std::min(rows_at_once, inputs.size() - at);
    const auto logits = engine.feed_all(inputs.subspan(at, rows));
    for (size_t row = 0; row < rows; row++)
      losses.nats += negative_log_likelihood(logits.subspan(row * width, width), targets[at + row]);
  }
  losses.tokens += std::ssize(inputs);
}

}  // namespace

double TokenLosses::perplexity() const { return std::exp(per_token()); }

TokenLosses token_losses(Engine& engine, std::span<const int32_t> tokens, const PerplexityOptions& options,
                         const std::function<bool(const TokenLosses&)>& progress) {
  if (tokens.size() < 2) throw Error("perplexity needs at least 2 tokens, found {}", tokens.size());
  if (options.stride < 1 || options.stride > options.context) {
    throw Error("the stride must be from 1 to the context of {} tokens, found {}", options.context,
                options.stride);
  }
  if (tokens.back() < 0 || tokens.back() >= engine.vocabulary())
    throw Error("token {} is outside the vocabulary of {}", tokens.back(), engine.vocabulary());
  const auto context = static_cast<size_t>(options.context), stride = static_cast<size_t>(options.stride);
  TokenLosses losses;
  size_t fed = 0;  // inputs whose following token is scored
  for (size_t start = 0; fed + 1 < tokens.size(); start += stride) {
    const size_t end = std::min(start + context, tokens.size() - 1);
    engine.reset();
    if (fed > start) engine.feed(tokens.subspan(start, fed - start));
    score(engine, tokens.subspan(fed, end - fed), tokens.subspan(fed + 1, end - fed), losses);
    fed = end;
    if (progress && !progress(losses)) break;
  }
  return losses;
}

}  // namespace onceover
