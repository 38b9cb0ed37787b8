// Pointer chasing, a task where depth matters: a function is told in the text, then asked for h steps along
// it.
//
//   sequence   k f(k)  k f(k)  …      every node once, in random order
//              [h] a   [h] a   …      queries: the token after each is f applied h times to a
//   tokens     node i = i; the hop count h, 1 to max_hops, = nodes + h - 1
//
// f is one cycle through all nodes, so that h hops never end where fewer do. Only the answers are scored, and
// they are not part of the text: no query helps another. As many queries as fit follow the pairs; one token
// may be left over, unscored.
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
  int only_hops = 0;      // every query asks for this many; 0 = 1 to max_hops, evenly drawn
};

class MultiHopTask {
 public:
  // Error unless nodes are 2 to 65536 and max_hops 1 to nodes - 1.
  explicit MultiHopTask(const MultiHopOptions& options);

  int vocab_size() const { return options_.nodes + options_.max_hops; }
  int64_t least_length() const { return 2 * int64_t{options_.nodes} + 2; }  // holds one query

  // Both spans of equal length, at least least_length(); targets[j] is the token to predict after inputs[j],
  // -1 = not scored.
  void read(int64_t sequence, std::span<int32_t> inputs, std::span<int32_t> targets) const;

 private:
  MultiHopOptions options_;
};

}  // namespace onceover
