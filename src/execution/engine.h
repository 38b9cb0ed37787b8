// What text generation asks of an executor: one sequence, fed in pieces, the next token's logits back.
//
// Not thread-safe. Errors: a token outside the vocabulary.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace onceover {

class Engine {
 public:
  virtual ~Engine() = default;

  virtual int vocabulary() const = 0;
  // Tokens held so far.
  virtual int64_t tokens() const = 0;
  // Appends at least one token and returns the logits after the last; valid until the next call.
  virtual std::span<const float> feed(std::span<const int32_t> tokens) = 0;
  // The same, with the logits after every one of the tokens: row-major, as many rows as tokens.
  virtual std::span<const float> feed_all(std::span<const int32_t> tokens) = 0;
  // Forgets the sequence.
  virtual void reset() = 0;
  // Bytes that the sequence's keys, values and other state take; nothing when the executor cannot tell.
  virtual std::optional<int64_t> kv_bytes() const { return std::nullopt; }
};

}  // namespace onceover
