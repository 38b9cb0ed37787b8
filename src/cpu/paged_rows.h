// The rows of one key or value of one sequence: every row, or those that a window still shows.
//
// Rows lie in pages of 64 (kernels/page.h). With a window the pages are a ring: those that no later row can
// see go back to the pool, so that between calls it holds the pages that overlap the last window - 1 +
// spare rows, and during a call the rows in flight besides. A copy shares all pages; whoever writes into a
// shared page first takes a copy of it.
#pragma once
#include <span>
#include <vector>

#include "cpu/kernels/page.h"
#include "cpu/kernels/view.h"
#include "cpu/page_pool.h"

namespace onceover::cpu {

class PagedRows {
 public:
  // window 0 keeps every row. `spare` further rows are kept for truncate().
  PagedRows(PagePool& pool, const kernels::PageLayout& layout, int window, int64_t spare)
      : pool_(&pool), layout_(layout), window_(window), spare_(spare) {}

  int64_t rows() const { return rows_; }  // ever appended, dropped ones included
  int64_t first_row() const { return first_page_ * kernels::page_rows; }  // the first that is held
  int64_t bytes() const { return std::ssize(pages_) * layout_.page_bytes(); }
  kernels::PagedView view() const;

  // Drops what the first of these rows cannot see, then stores them.
  void append(kernels::Input rows, int64_t count);
  // Drops what the next row cannot see.
  void drop_unseen();
  // Pages that append() takes from the pool at most, for `count` rows that come in pieces of `piece`.
  int64_t pages_to_take(int64_t count, int64_t piece) const;

  // The first row that must be held for the sequence to go on after `rows` rows.
  int64_t first_needed(int64_t rows) const;
  // Forgets the rows from `rows` on. first_needed(rows) must be held.
  void truncate(int64_t rows);

  // The pages from that of first_needed(rows) on.
  int64_t needed_page_count(int64_t rows) const;
  // Those of now, for a file.
  std::vector<std::span<const std::byte>> needed_pages() const;
  // Empty storage for `rows` rows, to be filled.
  std::vector<std::span<std::byte>> restart(int64_t rows);

 private:
  int64_t end_page() const { return first_page_ + std::ssize(pages_); }
  void drop_before(int64_t row);
  std::byte* writable(int64_t page);

  PagePool* pool_;
  kernels::PageLayout layout_;
  int window_;
  int64_t spare_;
  int64_t rows_ = 0, first_page_ = 0;
  std::vector<Page> pages_;                // from first_page_ on
  std::vector<const std::byte*> address_;  // of each
};

}  // namespace onceover::cpu
