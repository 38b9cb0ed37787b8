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

std::vector<int32_t> shuffled(int count, Draws& draws) {
  std::vector<int32_t> list(static_cast<size_t>(count));
  std::iota(list.begin(), list.end(), 0);
  for (int i = count - 1; i > 0; i--) std::swap(list[i], list[draws.below(i + 1)]);
  return list;
}

}  // namespace

MultiHopTask::MultiHopTask(const MultiHopOptions& options) : options_(options) {
  constexpr int most_chains = 64, most_hops = 63;
  if (options.chains < 2 || options.chains > most_chains)
    throw Error("hops.chains must be from 2 to {}, found {}", most_chains, options.chains);
  if (options.max_hops < 1 || options.max_hops > most_hops)
    throw Error("hops.max_hops must be from 1 to {}, found {}", most_hops, options.max_hops);
}

void MultiHopTask::read(int64_t sequence, std::span<int32_t> inputs, std::span<int32_t> targets) const {
  Draws draws(options_, sequence);
  const int n = nodes(), chain = options_.max_hops + 1;
  const auto order = shuffled(n, draws);  // chain after chain
  std::vector<int32_t> place(order.size());
  for (int i = 0; i < n; i++) place[order[i]] = i;
  std::ranges::fill(targets, -1);
  size_t at = 0;
  for (const int32_t node : shuffled(n, draws)) {
    const bool end = place[node] % chain == options_.max_hops;
    inputs[at++] = n + node * n + (end ? node : order[place[node] + 1]);
  }
  for (const int32_t node : shuffled(n, draws)) {
    const int hops = options_.max_hops - place[node] % chain;
    inputs[at] = node;
    const bool scored = options_.only_hops > 0 ? hops == options_.only_hops : hops > 0;
    if (scored) targets[at] = order[place[node] + hops];
    at++;
  }
}

}  // namespace onceover
