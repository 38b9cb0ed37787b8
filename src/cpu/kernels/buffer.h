// Uninitialised floats aligned to a cache line, and their division into parts.
#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace onceover::kernels {

constexpr int64_t line_floats = 16;  // a cache line

// `floats`, rounded up to whole cache lines.
constexpr int64_t whole_lines(int64_t floats) {
  return (floats + line_floats - 1) / line_floats * line_floats;
}

class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(int64_t floats) { reserve(floats); }

  // At least `floats` floats; the contents are lost when it grows.
  float* reserve(int64_t floats) {
    if (floats > size_) {
      const size_t bytes = static_cast<size_t>(whole_lines(floats)) * sizeof(float);
      const size_t alignment = bytes < 4 * huge_page ? line_floats * sizeof(float) : huge_page;
      data_.reset(static_cast<float*>(
          std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment)));
      if (!data_) throw std::bad_alloc();
      size_ = floats;
      // Reading gigabytes, a twentieth of the time goes to finding pages of 4 KiB. A refusal costs only that.
      if (alignment == huge_page) madvise(data_.get(), bytes, MADV_HUGEPAGE);
    }
    return data_.get();
  }
  float* data() const { return data_.get(); }

 private:
  static constexpr size_t huge_page = size_t{2} << 20;
  struct Free {
    void operator()(float* p) const { std::free(p); }
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
    used += whole_lines(floats);
    return part;
  }
};

}  // namespace onceover::kernels
