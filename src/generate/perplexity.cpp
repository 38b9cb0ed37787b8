#include "generate/perplexity.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace onceover {
namespace {

// log of the sum of exp.
double normaliser(std::span<const float> logits) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - largest);
  return std::log(sum) + largest;
}

// Σ p (log p - log q).
double divergence(std::span<const float> p, std::span<const float> q) {
  const double of_p = normaliser(p), of_q = normaliser(q);
  double sum = 0;
  for (size_t i = 0; i < p.size(); i++) {
    const double log_p = p[i] - of_p;
    sum += std::exp(log_p) * (log_p - (q[i] - of_q));
  }
  return sum;
}

int64_t likeliest(std::span<const float> logits) {
  return std::max_element(logits.begin(), logits.end()) - logits.begin();
}

struct Scorer {
  Engine& engine;
  Engine* reference;
  TokenLosses losses = {};

  void restart(std::span<const int32_t> read) {
    for (Engine* each : {&engine, reference}) {
      if (!each) continue;
      each->reset();
      if (!read.empty()) each->feed(read);
    }
  }

  // Feeds `inputs` and scores what follows each of them.
  void score(std::span<const int32_t> inputs, std::span<const int32_t> targets) {
    constexpr size_t rows_at_once = 64;  // logits of a large vocabulary take room
    for (size_t at = 0; at < inputs.size(); at += rows_at_once) {
      const size_t rows = std::min(rows_at_once, inputs.size() - at);
      score_rows(inputs.subspan(at, rows), targets.subspan(at, rows));
    }
    losses.tokens += std::ssize(inputs);
  }

  void score_rows(std::span<const int32_t> inputs, std::span<const int32_t> targets) {
    const auto width = static_cast<size_t>(engine.vocabulary());
    const auto logits = engine.feed_all(inputs);
    const auto expected = reference ? reference->feed_all(inputs) : std::span<const float>();
    for (size_t row = 0; row < inputs.size(); row++) {
      const auto found = logits.subspan(row * width, width);
      losses.nats += normaliser(found) - found[static_cast<size_t>(targets[row])];
      if (!reference) continue;
      const auto wanted = expected.subspan(row * width, width);
      losses.divergence += divergence(wanted, found);
      losses.agreed += likeliest(wanted) == likeliest(found);
    }
  }
};

}  // namespace

double TokenLosses::perplexity() const { return std::exp(per_token()); }

TokenLosses token_losses(Engine& engine, std::span<const int32_t> tokens, const PerplexityOptions& options,
                         const std::function<bool(const TokenLosses&)>& progress, Engine* reference) {
  if (tokens.size() < 2) throw Error("perplexity needs at least 2 tokens, found {}", tokens.size());
  if (options.stride < 1 || options.stride > options.context) {
    throw Error("the stride must be from 1 to the context of {} tokens, found {}", options.context,
                options.stride);
  }
  if (tokens.back() < 0 || tokens.back() >= engine.vocabulary())
    throw Error("token {} is outside the vocabulary of {}", tokens.back(), engine.vocabulary());
  if (reference && reference->vocabulary() != engine.vocabulary()) {
    throw Error("the models have vocabularies of {} and {} tokens", engine.vocabulary(),
                reference->vocabulary());
  }
  const auto context = static_cast<size_t>(options.context), stride = static_cast<size_t>(options.stride);
  Scorer scorer{engine, reference};
  size_t fed = 0;  // inputs whose following token is scored
  for (size_t start = 0; fed + 1 < tokens.size(); start += stride) {
    const size_t end = std::min(start + context, tokens.size() - 1);
    scorer.restart(tokens.subspan(start, fed - start));
    scorer.score(tokens.subspan(fed, end - fed), tokens.subspan(fed + 1, end - fed));
    fed = end;
    if (progress && !progress(scorer.losses)) break;
  }
  return scorer.losses;
}

}  // namespace onceover
