// Pages of one size for the keys and values of all sequences of an engine.
//
// A page belongs to everyone who holds it: sequences that share a beginning share its pages, and a page goes
// back when its last holder lets go. Pages given back are kept for the next taker until trim(). Memory comes
// in slabs of pages, each as large as all before it, up to what the system maps in huge pages: reading a long
// sequence is an eighth faster so. Where that would be beyond what the pools of an engine may hold together,
// a slab has one page. Who holds a page is counted beside its slab: a block of the heap for each page would
// lie between the buffers of passes and keep their memory from being used again. The pool outlives its pages.
// Not thread-safe.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "cpu/kernels/buffer.h"

namespace onceover::cpu {

// Bytes of the slabs of some pools, and how many they should stay within.
struct PoolRoom {
  int64_t held = 0, most = std::numeric_limits<int64_t>::max();
};

class PagePool;

// A share of a page, or of none.
class Page {
 public:
  Page() = default;
  Page(const Page& other) : pool_(other.pool_), at_(other.at_) {
    if (pool_) ++*at_.holders;
  }
  Page(Page&& other) noexcept { swap(other); }
  Page& operator=(Page other) noexcept {
    swap(other);
    return *this;
  }
  ~Page();

  std::byte* get() const { return at_.bytes; }
  bool is_shared() const { return *at_.holders > 1; }
  void reset() { *this = Page(); }

 private:
  friend class PagePool;
  struct Slab {
    kernels::Buffer memory;
    std::vector<int32_t> holders;  // by page
    int64_t bytes = 0, used = 0;   // used: pages
  };
  struct Place {
    std::byte* bytes = nullptr;
    Slab* slab = nullptr;
    int32_t* holders = nullptr;
  };

  Page(PagePool* pool, const Place& at) : pool_(pool), at_(at) {}
  void swap(Page& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(at_, other.at_);
  }

  PagePool* pool_ = nullptr;
  Place at_;
};

class PagePool {
 public:
  PagePool(int64_t page_bytes, PoolRoom& room) : page_bytes_(page_bytes), room_(&room) {}
  PagePool(const PagePool&) = delete;
  PagePool& operator=(const PagePool&) = delete;

  Page take();  // filled with zeros
  void trim();  // returns the slabs of which nobody holds a page to the system

  int64_t page_bytes() const { return page_bytes_; }
  int64_t used_bytes() const { return used_ * page_bytes_; }
  int64_t held_bytes() const { return (used_ + static_cast<int64_t>(free_.size())) * page_bytes_; }

 private:
  friend class Page;

  void add_slab();
  void give_back(const Page::Place& page);

  int64_t page_bytes_, used_ = 0;
  PoolRoom* room_;
  std::vector<std::unique_ptr<Page::Slab>> slabs_;
  std::vector<Page::Place> free_;  // the next one last; has room for all pages
};

}  // namespace onceover::cpu
