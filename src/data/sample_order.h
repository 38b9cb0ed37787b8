// In which order training sees its samples.
//
// Sample number g (0, 1, 2, … over the whole run) is sample order(g) of the stream. Every epoch holds each
// sample once, in an order of its own that follows from (seed, epoch, g) alone: nothing is stored, any g can
// be asked for at once. Method: a Feistel network on the smallest even number of bits that holds the count
// (Luby and Rackoff 1988), walked on from values outside the count until one is inside (Black and Rogaway
// 2002). Needs less than 4 steps on average.
#pragma once
#include <cstdint>

namespace onceover {

class SampleOrder {
 public:
  // Error when `samples` is 0.
  SampleOrder(uint64_t samples, uint64_t seed);

  uint64_t samples() const { return samples_; }
  uint64_t epoch(uint64_t global) const { return global / samples_; }
  uint64_t operator()(uint64_t global) const;

 private:
  uint64_t samples_, seed_;
  int half_bits_;
};

}  // namespace onceover
