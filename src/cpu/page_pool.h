// Pages of one size for the keys and values of all sequences of an engine.
//
// A page belongs to everyone who holds it: sequences that share a beginning share its pages, and a page goes
// back when its last holder lets go. Pages given back are kept for the next taker until trim(). Memory comes
// in slabs of pages, each as large as all before it, up to what the system maps in huge pages: reading a long
// sequence is an eighth faster so. Where that would be beyond what the pools of an engine may hold together,
// a slab has one page. The pool outlives its pages. Not thread-safe.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "cpu/kernels/buffer.h"

namespace onceover::cpu {

using Page = std::shared_ptr<std::byte>;

// Bytes of the slabs of some pools, and how many they should stay within.
struct PoolRoom {
  int64_t held = 0, most = std::numeric_limits<int64_t>::max();
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
  struct Slab {
    kernels::Buffer memory;
    int64_t bytes, used = 0;  // used: pages
  };
  struct FreePage {
    std::byte* bytes;
    Slab* slab;
  };

  void add_slab();
  void give_back(FreePage page);

  int64_t page_bytes_, used_ = 0;
  PoolRoom* room_;
  std::vector<std::unique_ptr<Slab>> slabs_;
  std::vector<FreePage> free_;  // the next one last; has room for all pages
};

}  // namespace onceover::cpu
