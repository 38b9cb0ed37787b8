#include "cpu/row_cache.h"

#include <algorithm>
#include <cstring>

namespace onceover::cpu {
namespace {

size_t bytes(int64_t floats) { return static_cast<size_t>(floats) * sizeof(float); }

}  // namespace

kernels::Output RowCache::append(int64_t count) {
  if (window_ > 0 && rows_ >= window_) {
    first_ += rows_ - (window_ - 1);
    rows_ = window_ - 1;
  }
  make_room(count);
  kernels::Output fresh{data_.data() + (first_ + rows_) * width_, width_};
  rows_ += count;
  return fresh;
}

void RowCache::make_room(int64_t count) {
  if (first_ + rows_ + count <= capacity_) return;
  const int64_t kept = std::max<int64_t>(rows_, 64);
  if (rows_ + count + kept > capacity_) {
    capacity_ = rows_ + count + kept;
    kernels::Buffer larger(capacity_ * width_);
    if (rows_ > 0) std::memcpy(larger.data(), view().data, bytes(rows_ * width_));
    data_ = std::move(larger);
  } else {
    std::memmove(data_.data(), view().data, bytes(rows_ * width_));
  }
  first_ = 0;
}

}  // namespace onceover::cpu
