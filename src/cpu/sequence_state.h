// What one sequence keeps between calls, by slot of the analysis: rows of keys and values, matrices of
// retention. A copy is a fork: it shares the pages of the rows and has matrices of its own.
#pragma once
#include <map>
#include <variant>
#include <vector>

#include "cpu/depth_plan.h"
#include "cpu/paged_rows.h"

namespace onceover::cpu {

// One pool for each size of page.
class PagePools {
 public:
  PagePool& of(int64_t page_bytes);
  int64_t used_bytes() const;
  int64_t held_bytes() const;
  void trim();
  // Slabs that would be beyond it together have one page.
  void hold_at_most(int64_t bytes) { room_->most = bytes; }

 private:
  std::unique_ptr<PoolRoom> room_ = std::make_unique<PoolRoom>();
  std::map<int64_t, PagePool> pools_;
};

class SequenceState {
 public:
  using Matrix = std::vector<float>;

  // `spare_rows`: rows that a window keeps beyond those it shows, for truncate().
  SequenceState(const DepthPlan& plan, PagePools& pools, int64_t spare_rows);

  int64_t tokens() const { return tokens_; }
  PagedRows& rows(int slot) { return std::get<PagedRows>(slots_[static_cast<size_t>(slot)]); }
  Matrix& matrix(int slot) { return std::get<Matrix>(slots_[static_cast<size_t>(slot)]); }

  // After a pass has appended `count` rows to every slot.
  void advance(int64_t count);
  // Appends `count` rows of zeros to every slot.
  void append_zeros(int64_t count);
  // Error when the state after `tokens` tokens is no longer held; the state is then unchanged.
  void truncate(int64_t tokens);

  std::vector<int64_t> slot_bytes() const;  // resident, by slot; shared pages count in full
  int64_t matrix_bytes() const;
  // Bytes of pages that appending `count` rows in pieces of `piece` takes at most.
  int64_t bytes_to_take(int64_t count, int64_t piece) const;

  // The state as it stands in a file: for each slot its pages or its matrix.
  std::vector<std::span<const std::byte>> stored() const;
  // Bytes that stored() has after `tokens` tokens.
  int64_t stored_bytes(int64_t tokens) const;
  // Makes room for the state after `tokens` tokens, to be filled.
  std::vector<std::span<std::byte>> restart(int64_t tokens);

 private:
  const DepthPlan* plan_;
  std::vector<std::variant<PagedRows, Matrix>> slots_;
  int64_t tokens_ = 0;
};

}  // namespace onceover::cpu
