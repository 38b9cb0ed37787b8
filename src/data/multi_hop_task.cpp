#include "data/multi_hop_task.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/hash.h"

namespace onceover {
namespace {

// Numbers of one sequence: a hash of what it is and how many were drawn, the same on every machine.
class Draws {
 public:
  Draws(const MultiHopOptions& options, int64_t sequence)
      : key_{options.seed, options.held_out, static_cast<uint64_t>(sequence), 0} {}

  int below(int limit) {
    const uint64_t bits = hash64(std::as_bytes(std::span(key_)));
    key_[3]++;
    return static_cast<int>(bits % static_cast<uint64_t>(limit));
  }

 private:
  std::array<uint64_t, 4> key_;
};

std::vector<int32_t> numbered(int count) {
  std::vector<int32_t> list(static_cast<size_t>(count));
  std::iota(list.begin(), list.end(), 0);
  return list;
}

std::vector<int32_t> shuffled(int count, Draws& draws) {
  std::vector<int32_t> list = numbered(count);
  for (int i = count - 1; i > 0; i--) std::swap(list[i], list[draws.below(i + 1)]);
  return list;
}

// Sattolo's algorithm: every cycle through all nodes is equally likely.
std::vector<int32_t> random_cycle(int count, Draws& draws) {
  std::vector<int32_t> next = numbered(count);
  for (int i = count - 1; i > 0; i--) std::swap(next[i], next[draws.below(i)]);
  return next;
}

}  // namespace

MultiHopTask::MultiHopTask(const MultiHopOptions& options) : options_(options) {
  constexpr int most_nodes = 256;
  if (options.nodes < 2 || options.nodes > most_nodes)
    throw Error("hops.nodes must be from 2 to {}, found {}", most_nodes, options.nodes);
  if (options.max_hops < 1 || options.max_hops >= options.nodes) {
    throw Error("hops.max_hops must be from 1 to {} (hops.nodes - 1), found {}", options.nodes - 1,
                options.max_hops);
  }
}

void MultiHopTask::read(int64_t sequence, std::span<int32_t> inputs, std::span<int32_t> targets) const {
  Draws draws(options_, sequence);
  const int nodes = options_.nodes;
  const auto next = random_cycle(nodes, draws);
  std::ranges::fill(targets, -1);
  size_t at = 0;
  for (const int32_t node : shuffled(nodes, draws)) inputs[at++] = nodes + node * nodes + next[node];
  const int hops = options_.only_hops > 0 ? options_.only_hops : 1 + draws.below(options_.max_hops);
  inputs[at++] = nodes + nodes * nodes + hops - 1;
  const auto starts = shuffled(nodes, draws);
  for (size_t i = 0; at < inputs.size(); i++, at++) {
    int32_t node = inputs[at] = starts[i];
    for (int h = 0; h < hops; h++) node = next[node];
    targets[at] = node;
  }
}

}  // namespace onceover
