// Pointer chasing, a task where depth matters: pointers between nodes are told as pairs, then asked is where
// they lead in the end.
//
//   nodes      in chains of max_hops + 1; each node points to the next of its chain, the last to itself
//   sequence   (k, f(k)) for every node k, in random order; then nodes to start from, in random order
//   tokens     n nodes: node i = i; pair (k, v) = n + k n + v
//
// The token to predict after a start is the end of its chain, 1 to max_hops hops away; ends are not asked.
// Only these answers are scored, and they are not part of the text, so no query helps another. A pair is one
// token: what is to be learnt is to look up again and again, not to find out which two tokens belong
// together. The end points to itself, so that a model may look up more often than it needs.
//
// Sequence i of a seed is the same whenever it is read; there is no last one. Immutable, safe from any
// thread.
#pragma once
#include <cstdint>
#include <span>

namespace onceover {

struct MultiHopOptions {
  int chains = 4, max_hops = 3;
  uint64_t seed = 1;
  bool held_out = false;  // other sequences than those of any training seed
  int only_hops = 0;      // only starts that are this far from the end are scored; 0 = all
};

class MultiHopTask {
 public:
  // Error unless chains are 2 to 64 and max_hops 1 to 63.
  explicit MultiHopTask(const MultiHopOptions& options);

  int nodes() const { return options_.chains * (options_.max_hops + 1); }
  int vocab_size() const { return nodes() * (1 + nodes()); }
  int64_t length() const { return 2 * int64_t{nodes()}; }

  // Both spans of length(); targets[j] is the token to predict after inputs[j], -1 = not scored.
  void read(int64_t sequence, std::span<int32_t> inputs, std::span<int32_t> targets) const;

 private:
  MultiHopOptions options_;
};

}  // namespace onceover
