#include <algorithm>

#include "torch/engine.h"

namespace onceover::torch_executor {

RowCache::RowCache(int64_t width, int64_t window, const at::TensorOptions& options)
    : buffer_(at::empty({1, 0, width}, options)), window_(window) {}

// A window's rows are copied together with the fresh ones, which costs no more than reading them does; the
// other caches have room.
void RowCache::append(const Tensor& rows) {
  const int64_t fresh = rows.size(1);
  if (window_ > 0) {
    const int64_t seen = std::min(count_, window_ - 1);
    buffer_ = at::cat({buffer_.narrow(1, count_ - seen, seen), rows}, 1);
    count_ = seen + fresh;
    return;
  }
  if (count_ + fresh > buffer_.size(1)) {
    const int64_t room = std::max(2 * buffer_.size(1), count_ + fresh);
    const Tensor larger = at::empty({1, room, buffer_.size(2)}, buffer_.options());
    larger.narrow(1, 0, count_).copy_(buffer_.narrow(1, 0, count_));
    buffer_ = larger;
  }
  buffer_.narrow(1, count_, fresh).copy_(rows);
  count_ += fresh;
}

}  // namespace onceover::torch_executor
