#include "cpu/page_pool.h"

#include <cstring>
#include <new>

namespace onceover::cpu {
namespace {

constexpr std::align_val_t alignment{64};

}  // namespace

Page PagePool::take() {
  std::byte* bytes = nullptr;
  if (free_.empty()) {
    free_.reserve(static_cast<size_t>(used_) + 1);  // so that giving back cannot fail
    bytes = static_cast<std::byte*>(::operator new(static_cast<size_t>(page_bytes_), alignment));
  } else {
    bytes = free_.back();
    free_.pop_back();
  }
  std::memset(bytes, 0, static_cast<size_t>(page_bytes_));
  ++used_;
  return Page(bytes, [this](std::byte* given_back) {
    free_.push_back(given_back);
    --used_;
  });
}

void PagePool::trim() {
  for (std::byte* bytes : free_) ::operator delete(bytes, alignment);
  free_.clear();
}

}  // namespace onceover::cpu
