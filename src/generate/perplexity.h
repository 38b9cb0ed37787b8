// How well a model foretells a text: cross-entropy over a row of tokens, taken in windows.
//
// With a stride below the context, windows overlap: each token but those of the first window is foretold from
// at least context - stride tokens before it, and is scored once. With stride = context nothing overlaps, as
// in the validation of training. With a context of the whole text there is one window.
#pragma once
#include <functional>
#include <span>

#include "execution/engine.h"

namespace onceover {

struct PerplexityOptions {
  int64_t context = 512;  // tokens of a window
  int64_t stride = 512;   // from the start of a window to that of the next, at most the context
};

struct TokenLosses {
  double nats = 0;     // natural-log cross-entropy, summed
  int64_t tokens = 0;  // scored: all but the first

  // Against the reference, where there is one: its Kullback-Leibler divergence to the model, summed, and the
  // tokens at which both hold the same one for likeliest.
  double divergence = 0;
  int64_t agreed = 0;

  double per_token() const { return nats / static_cast<double>(tokens); }
  double perplexity() const;
};

// `reference`, when given, reads the same windows; both must have one vocabulary (an Error otherwise).
// Resets the engine for each window. `progress` hears the tokens scored so far after every window; false ends
// there. Error for fewer than two tokens, and as in Engine; options out of range are an Error, too.
TokenLosses token_losses(Engine& engine, std::span<const int32_t> tokens, const PerplexityOptions& options,
                         const std::function<bool(const TokenLosses&)>& progress = {},
                         Engine* reference = nullptr);

}  // namespace onceover
