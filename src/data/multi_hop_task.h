// Pointer chasing, a task where depth matters: a function f over nodes is told as pairs, then asked for h
// steps along it.
//
//   sequence   (k, f(k)) for every node k, in random order; h; nodes to start from, in random order
//   tokens     n nodes: node i = i; pair (k, v) = n + k n + v; h steps = n + n n + h - 1
//
// The token to predict after a start is the node reached from it in h steps. Only these answers are scored,
// and they are not part of the text, so no query helps another. A pair is one token: what is to be learnt is
// to look up again and again, not to find out which two tokens belong together. f is one cycle through all
// nodes, so that h steps never end where fewer do.
//
// Sequence i of a seed is the same whenever it is read; there is no last one. Immutable, safe from any
// thread.
#pragma once
#include <cstdint>
#include <span>

namespace onceover {

struct MultiHopOptions {
  int nodes = 16, max_hops = 4;
  uint64_t seed = 1;
  bool held_out = false;  // other sequences than those of any training seed
  int only_hops = 0;      // every sequence asks for this many; 0 = 1 to max_hops, evenly drawn
};

class MultiHopTask {
 public:
  // Error unless nodes are 2 to 256 and max_hops 1 to nodes - 1.
  explicit MultiHopTask(const MultiHopOptions& options);

  int vocab_size() const { return options_.nodes * (1 + options_.nodes) + options_.max_hops; }
  int64_t least_length() const { return int64_t{options_.nodes} + 2; }     // holds one query
  int64_t most_length() const { return 2 * int64_t{options_.nodes} + 1; }  // every node is asked once

  // Both spans of equal length, least_length() to most_length(); targets[j] is the token to predict after
  // inputs[j], -1 = not scored.
  void read(int64_t sequence, std::span<int32_t> inputs, std::span<int32_t> targets) const;

 private:
  MultiHopOptions options_;
};

}  // namespace onceover
