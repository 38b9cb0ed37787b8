// Pages (page.h) written from rows, and read as f32 tiles.
#pragma once
#include "cpu/kernels/leaves.h"
#include "cpu/kernels/leaves/narrow.h"
#include "cpu/kernels/leaves/tile.h"

namespace onceover::kernels::ONCEOVER_ISA {

ONCEOVER_LEAF_INLINE v8 widen(const float* x) { return load(x); }

// Asks for the cache line that stands where `at` does, in the part that is read next.
ONCEOVER_LEAF_INLINE void prefetch(const std::byte* next, int64_t offset) {
  if (next) __builtin_prefetch(next + offset, 0, 2);
}

// Distances between a part's numbers and scales: of neighbouring rows, of neighbouring columns.
struct PartStrides {
  int64_t row, column, scale_row, scale_block;
};

ONCEOVER_LEAF_INLINE PartStrides part_strides(const PageLayout& l) {
  return l.is_key ? PartStrides{1, page_rows, 1, page_rows} : PartStrides{l.part, 1, l.blocks(), 1};
}

ONCEOVER_LEAF_INLINE const float* scales_of(const PageLayout& l, const std::byte* part) {
  return reinterpret_cast<const float*>(part + page_rows * l.part);
}

ONCEOVER_LEAF void store_q8_block(int64_t columns, const float* x, int8_t* numbers, int64_t stride,
                                  float* scale) {
  float most = 0, poison = 0;
  for (int64_t j = 0; j < columns; ++j) {
    const float size = x[j] < 0 ? -x[j] : x[j];
    most = size > most ? size : most;
    poison += x[j] - x[j];  // 0, or NaN for what is not finite
  }
  const bool plain = most > 0 && poison == 0;
  *scale = most / 127 + poison;
  const float inverse = plain ? 127 / most : 0;
  for (int64_t j = 0; j < columns; ++j) {
    numbers[j * stride] = plain ? static_cast<int8_t>(std::lrint(x[j] * inverse)) : int8_t{0};
  }
}

ONCEOVER_LEAF void store_part_row(const PageLayout& l, std::byte* part, int64_t row, const float* x) {
  const PartStrides s = part_strides(l);
  if (l.type == KvType::F32) {
    float* y = reinterpret_cast<float*>(part) + row * s.row;
    for (int64_t j = 0; j < l.part; ++j) y[j * s.column] = x[j];
  } else if (l.type == KvType::F16) {
    uint16_t* y = reinterpret_cast<uint16_t*>(part) + row * s.row;
    for (int64_t j = 0; j < l.part; ++j) y[j * s.column] = narrow_half(x[j]);
  } else {
    int8_t* y = reinterpret_cast<int8_t*>(part) + row * s.row;
    float* scales = reinterpret_cast<float*>(part + page_rows * l.part) + row * s.scale_row;
    for (int64_t b = 0; b < l.blocks(); ++b) {
      const int64_t first = b * scale_columns, rest = l.part - first;
      store_q8_block(rest < scale_columns ? rest : scale_columns, x + first, y + first * s.column, s.column,
                     scales + b * s.scale_block);
    }
  }
}

ONCEOVER_LEAF void store_page_rows(const PageLayout& l, std::byte* page, int64_t first, int64_t count,
                                   Input rows) {
  for (int64_t p = 0; p < l.parts(); ++p) {
    for (int64_t r = 0; r < count; ++r) {
      store_part_row(l, page + p * l.part_bytes(), first + r, rows[r] + p * l.part);
    }
  }
}

// to[n] = from[n], n a multiple of 8; asks for as many bytes of `next`.
template <class T>
ONCEOVER_LEAF_INLINE void widen_all(int64_t n, const T* from, float* to, const std::byte* next) {
  constexpr int64_t line = 64 / sizeof(T);
  int64_t i = 0;
  for (; i + line <= n; i += line) {
    prefetch(next, i * static_cast<int64_t>(sizeof(T)));
#pragma GCC unroll 8
    for (int64_t j = 0; j < line; j += 8) store(to + i + j, widen(from + i + j));
  }
  for (; i < n; i += 8) store(to + i, widen(from + i));
}

// [part, 64] f32: the keys of one head. Not copied where they are stored so.
ONCEOVER_LEAF const float* key_tile(const PageLayout& l, const std::byte* part, const std::byte* next,
                                    float* scratch) {
  if (l.type == KvType::F32) {
    for (int64_t at = 0; next && at < l.part_bytes(); at += 64) prefetch(next, at);
    return reinterpret_cast<const float*>(part);
  }
  if (l.type == KvType::F16) {
    widen_all(l.part * page_rows, reinterpret_cast<const uint16_t*>(part), scratch, next);
    return scratch;
  }
  const auto* numbers = reinterpret_cast<const int8_t*>(part);
  for (int64_t d = 0; d < l.part; ++d) {
    const float* scales = scales_of(l, part) + d / scale_columns * page_rows;
    prefetch(next, d * page_rows);
#pragma GCC unroll 8
    for (int64_t r = 0; r < page_rows; r += 8) {
      store(scratch + d * page_rows + r, widen(numbers + d * page_rows + r) * load(scales + r));
    }
  }
  for (int64_t b = 0; b < l.blocks() * 4; ++b) prefetch(next, (l.part + b) * page_rows);
  return scratch;
}

// One row of a part of values, padded with zeros.
template <class T>
ONCEOVER_LEAF_INLINE void value_row(const PageLayout& l, const T* numbers, const float* scales, float* to) {
  for (int64_t j = 0; j < padded(l.part); j += 8) {
    const int64_t count = l.part - j;
    const v8 scale = splat(scales && count > 0 ? scales[j / scale_columns] : 1);
    if (count >= 8) {
      store(to + j, widen(numbers + j) * scale);
    } else {
      T last[8]{};
      for (int64_t i = 0; i < count; ++i) last[i] = numbers[j + i];
      store(to + j, widen(last) * scale);
    }
  }
}

template <class T>
ONCEOVER_LEAF_INLINE void value_rows(const PageLayout& l, int64_t rows, const std::byte* part,
                                     const std::byte* next, float* to) {
  const int64_t row_bytes = l.part * l.number_bytes();
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t at = 0; next && at < row_bytes; at += 64) prefetch(next, r * row_bytes + at);
    const float* scales = l.type == KvType::Q8 ? scales_of(l, part) + r * l.blocks() : nullptr;
    value_row(l, reinterpret_cast<const T*>(part) + r * l.part, scales, to + r * padded(l.part));
  }
}

// [rows, padded(part)] f32: the values of one head. `keys` is scratch for pages that are kept as keys.
ONCEOVER_LEAF const float* value_tile(const PageLayout& l, int64_t rows, const std::byte* part,
                                      const std::byte* next, float* keys, float* scratch) {
  if (l.is_key) {
    const float* across = key_tile(l, part, next, keys);
    transpose_block(l.part, page_rows, across, page_rows, {scratch, padded(l.part)});
    return scratch;
  }
  if (l.type == KvType::F32) {
    if (padded(l.part) == l.part) {
      for (int64_t at = 0; next && at < l.part_bytes(); at += 64) prefetch(next, at);
      return reinterpret_cast<const float*>(part);
    }
    value_rows<float>(l, rows, part, next, scratch);
  } else if (l.type == KvType::F16) {
    if (padded(l.part) == l.part) {
      widen_all(rows * l.part, reinterpret_cast<const uint16_t*>(part), scratch, next);
    } else {
      value_rows<uint16_t>(l, rows, part, next, scratch);
    }
  } else {
    value_rows<int8_t>(l, rows, part, next, scratch);
  }
  return scratch;
}

}  // namespace onceover::kernels::ONCEOVER_ISA
