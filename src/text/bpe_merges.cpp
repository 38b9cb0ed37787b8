#include "text/bpe_merges.h"

#include <bit>
#include <queue>

namespace onceover {
namespace {

// Symbols of a word as a list: a merge keeps the left one and drops the right one.
struct Symbol {
  int id;
  int previous, next;  // -1 = none
  bool dropped = false;
};

struct Candidate {
  int rank, at, merged;
  // The queue's top is the largest: the lowest rank, then the leftmost.
  bool operator<(const Candidate& other) const {
    return rank != other.rank ? rank > other.rank : at > other.at;
  }
};

std::vector<Symbol> as_list(std::span<const int> ids) {
  std::vector<Symbol> symbols;
  symbols.reserve(ids.size());
  for (int i = 0; i < static_cast<int>(ids.size()); i++)
    symbols.push_back({ids[static_cast<size_t>(i)], i - 1, i + 1});
  symbols.back().next = -1;
  return symbols;
}

void drop_next(std::vector<Symbol>& symbols, int at) {
  Symbol& left = symbols[static_cast<size_t>(at)];
  Symbol& right = symbols[static_cast<size_t>(left.next)];
  right.dropped = true;
  left.next = right.next;
  if (left.next >= 0) symbols[static_cast<size_t>(left.next)].previous = at;
}

}  // namespace

BpeMerges::BpeMerges(std::span<const Merge> merges) : slots_(std::bit_ceil(2 * merges.size() + 1)) {
  int rank = 0;
  for (const Merge& merge : merges)
    slots_[slot_of(merge.left, merge.right)] = {merge.left, merge.right, rank++, merge.merged};
}

size_t BpeMerges::slot_of(int left, int right) const {
  const uint64_t pair =
      static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
  size_t at = (pair * 0x9E3779B97F4A7C15) >> 32;
  for (;; at++) {
    const Slot& slot = slots_[at &= slots_.size() - 1];
    if (slot.left < 0 || (slot.left == left && slot.right == right)) return at;
  }
}

const BpeMerges::Slot* BpeMerges::find(int left, int right) const {
  const Slot& slot = slots_[slot_of(left, right)];
  return slot.left < 0 ? nullptr : &slot;
}

void BpeMerges::apply(std::vector<int>& ids, size_t first) const {
  if (ids.size() < first + 2) return;
  std::vector<Symbol> symbols = as_list(std::span(ids).subspan(first));
  std::priority_queue<Candidate> queue;
  const auto next_of = [&](int at) -> const Slot* {
    const Symbol& left = symbols[static_cast<size_t>(at)];
    return left.next < 0 ? nullptr : find(left.id, symbols[static_cast<size_t>(left.next)].id);
  };
  const auto propose = [&](int at) {
    if (at < 0) return;
    if (const Slot* slot = next_of(at)) queue.push({slot->rank, at, slot->merged});
  };
  for (int at = 0; at + 1 < static_cast<int>(symbols.size()); at++) propose(at);
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    Symbol& left = symbols[static_cast<size_t>(best.at)];
    if (left.dropped) continue;
    const Slot* slot = next_of(best.at);
    if (slot == nullptr || slot->merged != best.merged) continue;  // one of the two has changed since
    left.id = best.merged;
    drop_next(symbols, best.at);
    propose(left.previous);
    propose(best.at);
  }
  ids.resize(first);
  for (const Symbol& symbol : symbols) {
    if (!symbol.dropped) ids.push_back(symbol.id);
  }
}

}  // namespace onceover
