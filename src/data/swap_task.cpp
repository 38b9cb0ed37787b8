#include "data/swap_task.h"

#include <array>

#include "base/error.h"
#include "base/hash.h"

namespace onceover {
namespace {

// Numbers of one sequence: a hash of what it is and how many were drawn, the same on every machine.
class Draws {
 public:
  Draws(const SwapOptions& options, int64_t sequence)
      : key_{options.seed, options.held_out, static_cast<uint64_t>(sequence), 0} {}

  int below(int limit) {
    const uint64_t bits = hash64(std::as_bytes(std::span(key_)));
    key_[3]++;
    return static_cast<int>(bits % static_cast<uint64_t>(limit));
  }

 private:
  std::array<uint64_t, 4> key_;
};

}  // namespace

SwapTask::SwapTask(const SwapOptions& options) : options_(options) {
  constexpr int most_places = 64;
  if (options.places < 2 || options.places > most_places)
    throw Error("swaps.places must be from 2 to {}, found {}", most_places, options.places);
}

void SwapTask::read(int64_t sequence, std::span<int32_t> inputs, std::span<int32_t> targets) const {
  Draws draws(options_, sequence);
  const int n = options_.places;
  int place = 0;
  for (size_t i = 0; i < inputs.size(); i++) {
    const int a = draws.below(n), rest = draws.below(n - 1), b = rest < a ? rest : rest + 1;
    const int low = a < b ? a : b, high = a < b ? b : a;
    inputs[i] = n + high * (high - 1) / 2 + low;
    if (place == low) {
      place = high;
    } else if (place == high) {
      place = low;
    }
    const auto swaps = static_cast<int64_t>(i) + 1;
    targets[i] = swaps >= options_.first_scored && swaps <= options_.last_scored ? place : -1;
  }
}

}  // namespace onceover
