#include "data/sample_order.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "base/random.h"

namespace onceover {
namespace {

constexpr uint64_t golden = 0x9E3779B97F4A7C15;

uint64_t permute(uint64_t value, int half_bits, uint64_t key) {
  constexpr uint64_t rounds = 6;
  const uint64_t mask = (uint64_t{1} << half_bits) - 1;
  uint64_t left = value >> half_bits, right = value & mask;
  for (uint64_t round = 1; round <= rounds; round++) {
    const uint64_t next = left ^ (mix64(right + mix64(key + round * golden)) & mask);
    left = right;
    right = next;
  }
  return left << half_bits | right;
}

}  // namespace

SampleOrder::SampleOrder(uint64_t samples, uint64_t seed) : samples_(samples), seed_(seed), half_bits_(1) {
  if (samples == 0) throw Error("sample order: no samples");
  half_bits_ = std::max(1, (static_cast<int>(std::bit_width(samples - 1)) + 1) / 2);
}

uint64_t SampleOrder::operator()(uint64_t global) const {
  const uint64_t key = mix64(mix64(seed_ + golden) + epoch(global));
  uint64_t value = global % samples_;
  do {
    value = permute(value, half_bits_, key);
  } while (value >= samples_);
  return value;
}

}  // namespace onceover
