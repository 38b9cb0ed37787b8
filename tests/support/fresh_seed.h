// The seed of a test's random inputs: another in every run, printed so that a failure can be repeated.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace onceover {

// ONCEOVER_SEED in the environment repeats a run.
inline uint32_t fresh_seed() {
  const char* given = std::getenv("ONCEOVER_SEED");
  const uint32_t seed =
      given ? static_cast<uint32_t>(std::strtoul(given, nullptr, 10)) : std::random_device{}();
  std::printf("to repeat, set ONCEOVER_SEED=%u\n", seed);
  std::fflush(stdout);  // before a crash or a fork
  return seed;
}

}  // namespace onceover
