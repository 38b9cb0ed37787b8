// Pages of one size for the keys and values of all sequences of an engine.
//
// A page belongs to everyone who holds it: sequences that share a beginning share its pages, and a page goes
// back when its last holder lets go. Pages given back are kept for the next taker until trim(). The pool
// outlives its pages. Not thread-safe.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace onceover::cpu {

using Page = std::shared_ptr<std::byte>;

class PagePool {
 public:
  explicit PagePool(int64_t page_bytes) : page_bytes_(page_bytes) {}
  PagePool(const PagePool&) = delete;
  PagePool& operator=(const PagePool&) = delete;
  ~PagePool() { trim(); }

  Page take();  // filled with zeros
  void trim();  // returns the pages that nobody holds to the system

  int64_t page_bytes() const { return page_bytes_; }
  int64_t used_bytes() const { return used_ * page_bytes_; }
  int64_t held_bytes() const { return (used_ + static_cast<int64_t>(free_.size())) * page_bytes_; }

 private:
  int64_t page_bytes_, used_ = 0;
  std::vector<std::byte*> free_;
};

}  // namespace onceover::cpu
