// The rows of one key or value that outlive a call: every row, or the last few.
//
// Rows lie one after another, so attention reads them in place. Storage is at most about twice the rows, or
// 64 more. A windowed cache slides within it and moves its rows back to the front when it reaches the end, so
// a row is copied once in a while instead of on every call.
#pragma once
#include <cstdint>

#include "cpu/kernels/buffer.h"
#include "cpu/kernels/view.h"

namespace onceover::cpu {

class RowCache {
 public:
  // Keeps all rows, or only those that a window of `window` rows lets the next query see.
  RowCache(int64_t width, int window) : width_(width), window_(window) {}

  // Room for `count` further rows, to be written by the caller. Rows that the first of them cannot see are
  // dropped.
  kernels::Output append(int64_t count);

  kernels::Input view() const { return {data_.data() + first_ * width_, width_}; }
  int64_t rows() const { return rows_; }  // in view

 private:
  void make_room(int64_t count);

  int64_t width_;
  int window_;
  kernels::Buffer data_;
  int64_t capacity_ = 0;  // rows
  int64_t first_ = 0, rows_ = 0;
};

}  // namespace onceover::cpu
