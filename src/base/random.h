// Random numbers by position: element `counter` of stream `key`, in any order, on any thread, the same on
// every machine. SplitMix64 (Steele, Lea, Flood 2014). Not for secrets.
#pragma once
#include <cstdint>

namespace onceover {

inline uint64_t mix64(uint64_t z) {
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
  z = (z ^ z >> 27) * 0x94D049BB133111EBU;
  return z ^ z >> 31;
}

inline uint64_t random_bits(uint64_t key, uint64_t counter) {
  return mix64(key + (counter + 1) * 0x9E3779B97F4A7C15U);
}

// Middle of one of 2^52 equal parts of (0, 1): never 0 or 1, and symmetric.
inline double random_unit(uint64_t key, uint64_t counter) {
  return (static_cast<double>(random_bits(key, counter) >> 12) + 0.5) * 0x1p-52;
}

}  // namespace onceover
