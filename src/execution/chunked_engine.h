// An engine that takes prompts in chunks, so that its scratch memory does not grow with them.
#pragma once
#include <vector>

#include "execution/engine.h"

namespace onceover {

class ChunkedEngine : public Engine {
 public:
  static constexpr int64_t chunk_tokens = 256;

  std::span<const float> feed(std::span<const int32_t> tokens) final;
  std::span<const float> feed_all(std::span<const int32_t> tokens) final;

 protected:
  // Appends 1 to chunk_tokens tokens, all in the vocabulary, and writes the logits of the last `logit_rows`
  // to `logits`.
  virtual void run(std::span<const int32_t> tokens, int64_t logit_rows, float* logits) = 0;

 private:
  void require_tokens(std::span<const int32_t> tokens) const;

  std::vector<float> logits_;
};

}  // namespace onceover
