// Tracking a state, a task where depth matters: things change places two by two, and asked is where the first
// of them is by now. For 5 places or more this is a word problem of a group that is not solvable: a stack of
// attention layers of fixed depth tells the place only after so many swaps, a deeper one after more (Merrill,
// Petty, Sabharwal 2024, arXiv 2404.08819).
//
//   tokens     n places: place i = i; swap of the places a < b = n + b (b - 1) / 2 + a
//   sequence   swaps, each as likely as any other
//   targets    after each swap, the place of what was at place 0 in the beginning
//
// The places are not part of the text, so every answer has to be found from all swaps before it.
//
// Sequence i of a seed is the same whenever it is read; there is no last one. Immutable, safe from any
// thread.
#pragma once
#include <cstdint>
#include <limits>
#include <span>

namespace onceover {

struct SwapOptions {
  int places = 5;
  uint64_t seed = 1;
  bool held_out = false;  // other sequences than those of any training seed
  // Only answers after this many swaps are scored.
  int64_t first_scored = 1, last_scored = std::numeric_limits<int64_t>::max();
};

class SwapTask {
 public:
  // Error unless places are 2 to 64.
  explicit SwapTask(const SwapOptions& options);

  int vocab_size() const { return options_.places + options_.places * (options_.places - 1) / 2; }

  // Both spans of one length; targets[j] is the token to predict after inputs[j], -1 = not scored.
  void read(int64_t sequence, std::span<int32_t> inputs, std::span<int32_t> targets) const;

 private:
  SwapOptions options_;
};

}  // namespace onceover
