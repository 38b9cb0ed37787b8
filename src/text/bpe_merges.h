// The merges of a byte-pair encoding (Sennrich et al. 2016) and their application to a word.
//
// Of all neighbours that have a merge, the one of lowest rank is merged first, the leftmost among equals,
// until none is left. A word of n symbols takes O(n log n). Safe to read from several threads.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace onceover {

class BpeMerges {
 public:
  struct Merge {
    int left, right, merged;  // token ids
  };

  BpeMerges() : BpeMerges(std::span<const Merge>{}) {}
  // In order of rank. A pair that occurs twice has its last rank, as in the Hugging Face library.
  explicit BpeMerges(std::span<const Merge> merges);

  // Merges the ids from `first` on, in place.
  void apply(std::vector<int>& ids, size_t first) const;

 private:
  struct Slot {
    int left = -1, right = -1;
    int rank = 0, merged = 0;
  };

  size_t slot_of(int left, int right) const;
  const Slot* find(int left, int right) const;

  std::vector<Slot> slots_;  // open addressing; a power of two, at least twice the merges
};

}  // namespace onceover
