#include "cpu/paged_rows.h"

#include <algorithm>
#include <cstring>

#include "cpu/kernels/leaves.h"

namespace onceover::cpu {

using kernels::page_rows;

namespace {

int64_t pages_for(int64_t rows) { return (rows + page_rows - 1) / page_rows; }

}  // namespace

kernels::PagedView PagedRows::view() const { return {layout_, address_.data(), first_page_}; }

int64_t PagedRows::first_needed(int64_t rows) const {
  return window_ == 0 ? 0 : std::max<int64_t>(0, rows - (window_ - 1));
}

void PagedRows::drop_before(int64_t row) {
  const int64_t pages = std::min(row / page_rows - first_page_, std::ssize(pages_));
  if (pages <= 0) return;
  pages_.erase(pages_.begin(), pages_.begin() + pages);
  address_.erase(address_.begin(), address_.begin() + pages);
  first_page_ += pages;
}

void PagedRows::drop_unseen() { drop_before(first_needed(rows_) - spare_); }

std::byte* PagedRows::writable(int64_t page) {
  const auto index = static_cast<size_t>(page - first_page_);
  if (index == pages_.size()) {
    pages_.push_back(pool_->take());
    address_.push_back(pages_.back().get());
  } else if (pages_[index].is_shared()) {
    Page own = pool_->take();
    std::memcpy(own.get(), pages_[index].get(), static_cast<size_t>(layout_.page_bytes()));
    pages_[index] = std::move(own);
    address_[index] = pages_[index].get();
  }
  return pages_[index].get();
}

void PagedRows::append(kernels::Input rows, int64_t count) {
  drop_unseen();
  if (pages_.empty()) first_page_ = rows_ / page_rows;
  const kernels::Leaves& leaf = kernels::leaves();
  for (int64_t done = 0; done < count;) {
    const int64_t at = rows_ % page_rows, fit = std::min(page_rows - at, count - done);
    leaf.store_page_rows(layout_, writable(rows_ / page_rows), at, fit, {rows[done], rows.stride});
    rows_ += fit;
    done += fit;
  }
}

int64_t PagedRows::pages_to_take(int64_t count, int64_t piece) const {
  const bool partial = rows_ % page_rows != 0 && !pages_.empty();
  const int64_t copied = partial && pages_.back().is_shared() ? 1 : 0;
  const int64_t grown = pages_for(rows_ + count) - std::max(end_page(), rows_ / page_rows);
  if (window_ == 0) return copied + grown;
  // Most are held when the last row of a piece stands in a page whose first rows are in flight, too.
  const int64_t most = pages_for(window_ - 1 + spare_ + std::min(count, piece)) + 1;
  // A shared page that is dropped does not go back to the pool.
  const auto own = std::ranges::count_if(pages_, [](const Page& page) { return !page.is_shared(); });
  return std::min(copied + grown, std::max<int64_t>(0, most - own));
}

void PagedRows::truncate(int64_t rows) {
  rows_ = rows;
  const int64_t pages = std::max<int64_t>(0, pages_for(rows) - first_page_);
  pages_.resize(std::min(pages_.size(), static_cast<size_t>(pages)));
  address_.resize(pages_.size());
  if (pages_.empty()) first_page_ = rows / page_rows;
}

int64_t PagedRows::needed_page_count(int64_t rows) const {
  return std::max<int64_t>(0, pages_for(rows) - first_needed(rows) / page_rows);
}

std::vector<std::span<const std::byte>> PagedRows::needed_pages() const {
  std::vector<std::span<const std::byte>> found;
  for (int64_t page = first_needed(rows_) / page_rows; page < pages_for(rows_); page++) {
    found.emplace_back(address_[static_cast<size_t>(page - first_page_)],
                       static_cast<size_t>(layout_.page_bytes()));
  }
  return found;
}

std::vector<std::span<std::byte>> PagedRows::restart(int64_t rows) {
  truncate(0);
  rows_ = rows;
  first_page_ = first_needed(rows) / page_rows;
  std::vector<std::span<std::byte>> storage;
  for (int64_t page = first_page_; page < pages_for(rows); page++) {
    storage.emplace_back(writable(page), static_cast<size_t>(layout_.page_bytes()));
  }
  return storage;
}

}  // namespace onceover::cpu
