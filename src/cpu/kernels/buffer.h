// Uninitialised floats aligned to a cache line, and their division into parts.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace onceover::kernels {

class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(int64_t floats) { reserve(floats); }

  // At least `floats` floats; the contents are lost when it grows.
  float* reserve(int64_t floats) {
    if (floats > size_) {
      const size_t bytes = (static_cast<size_t>(floats) * sizeof(float) + 63) / 64 * 64;
      data_.reset(static_cast<float*>(::operator new (bytes, std::align_val_t{64})));
      size_ = floats;
    }
    return data_.get();
  }
  float* data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(float* p) const { ::operator delete (p, std::align_val_t{64}); }
  };
  std::unique_ptr<float, Free> data_;
  int64_t size_ = 0;
};

// Hands out consecutive parts of a buffer, each on its own cache lines. With a null base it only counts.
struct Carver {
  float* base;
  int64_t used = 0;

  float* take(int64_t floats) {
    float* part = base ? base + used : nullptr;
    used += (floats + 15) / 16 * 16;
    return part;
  }
};

}  // namespace onceover::kernels
