// Products with packed weights (packed_matrix.h) of rows in groups (packed_rows.h).
//
// An output is summed in the order of its inputs, one input (floats) or one block (integers) at a time,
// whether one row is multiplied or a thousand: a row's result does not depend on the rows beside it.
#pragma once
#include "cpu/kernels/leaves.h"
#include "cpu/kernels/leaves/narrow.h"
#include "cpu/kernels/leaves/tile.h"

namespace onceover::kernels::ONCEOVER_ISA {

static_assert(panel_outputs == tile_columns);

constexpr int64_t block_pairs = block_inputs / 2;

// How far ahead of its use a weight is asked for.
constexpr int64_t prefetch_bytes = 2048;

// Inputs of a panel that are unpacked at a time: 16 KiB of floats, half of the L1 cache.
constexpr int64_t slice_inputs = 256;

// Unpacked weights of a slice.
struct Slice {
  float* values;   // [inputs][16]
  int16_t* pairs;  // [pairs][16][2]
  float* scales;   // [blocks][16]
};

ONCEOVER_LEAF Slice carve_slice(float* scratch) {
  Carver part{scratch};
  float* values = part.take(slice_inputs * panel_outputs);
  return {values, reinterpret_cast<int16_t*>(values), part.take(slice_inputs / block_inputs * panel_outputs)};
}

ONCEOVER_LEAF int64_t packed_scratch() {
  return slice_inputs * panel_outputs + slice_inputs / block_inputs * panel_outputs;
}

template <WeightFormat format>
ONCEOVER_LEAF_INLINE v8 load_weights(const std::byte* from) {
  if constexpr (format == WeightFormat::F32) return load(reinterpret_cast<const float*>(from));
  if constexpr (format == WeightFormat::F16) return load_f16(from);
  return load_bf16(from);
}

template <WeightFormat format>
constexpr int64_t weight_bytes = format == WeightFormat::F32 ? 4 : 2;

// Pair `pair` of a block, outputs 8 * half and on, as [8 outputs][2].
template <WeightFormat format>
ONCEOVER_LEAF_INLINE i16x16 load_pairs(const std::byte* block, int64_t pair, int64_t half) {
  const std::byte* numbers = block + panel_outputs * 2;
  if constexpr (format == WeightFormat::Q8) return widen_16(numbers + (pair * 2 + half) * 16);
  const auto words = load_words(numbers + (pair / 4 * 2 + half) * 32);
  return reinterpret_cast<i16x16>(words >> static_cast<uint16_t>(pair % 4 * 4) & uint16_t{15});
}

// y[rows][16] += the blocks' sums. `rows` lines of a group whose lines have `rows` entries.
template <WeightFormat format, int64_t rows>
ONCEOVER_LEAF_INLINE void few_integers(const std::byte* panel, int64_t blocks, const RowGroup& x,
                                       v8 (&left)[rows], v8 (&right)[rows]) {
  constexpr int64_t line_pairs = format == WeightFormat::Q8 ? 2 : 4;  // in a cache line
  const int16_t* q = x.q;
  for (int64_t b = 0; b < blocks; ++b, panel += block_bytes(format)) {
    i32x8 low[rows], high[rows];
#pragma GCC unroll 8
    for (int64_t r = 0; r < rows; ++r) {
      low[r] = high[r] = splat_int(format == WeightFormat::Q4 ? x.offset[b * rows + r] : 0);
    }
#pragma GCC unroll 16
    for (int64_t pair = 0; pair < block_pairs; ++pair, q += 2 * rows) {
      if (pair % line_pairs == 0) __builtin_prefetch(panel + prefetch_bytes + pair / line_pairs * 64);
      const i16x16 w_low = load_pairs<format>(panel, pair, 0), w_high = load_pairs<format>(panel, pair, 1);
#pragma GCC unroll 8
      for (int64_t r = 0; r < rows; ++r) {
        const i16x16 pairs = splat_pair(q + 2 * r);
        low[r] += multiply_pairs(w_low, pairs);
        high[r] += multiply_pairs(w_high, pairs);
      }
    }
    const v8 scale_low = load_f16(panel), scale_high = load_f16(panel + 16);
#pragma GCC unroll 8
    for (int64_t r = 0; r < rows; ++r) {
      const v8 scale = splat(x.scales[b * rows + r]);
      left[r] += to_float(low[r]) * (scale_low * scale);
      right[r] += to_float(high[r]) * (scale_high * scale);
    }
  }
}

template <WeightFormat format, int64_t rows>
ONCEOVER_LEAF_INLINE void few_floats(const std::byte* panel, int64_t inputs, const RowGroup& x,
                                     v8 (&left)[rows], v8 (&right)[rows]) {
  const float* values = x.values;
#pragma GCC unroll 4
  for (int64_t i = 0; i < inputs; ++i, values += rows, panel += panel_outputs * weight_bytes<format>) {
    const v8 w_left = load_weights<format>(panel),
             w_right = load_weights<format>(panel + 8 * weight_bytes<format>);
    __builtin_prefetch(panel + prefetch_bytes);
#pragma GCC unroll 8
    for (int64_t r = 0; r < rows; ++r) {
      const v8 value = splat(values[r]);
      left[r] += value * w_left;
      right[r] += value * w_right;
    }
  }
}

// y[0, 16) or as many as the matrix has.
ONCEOVER_LEAF_INLINE void store_outputs(float* y, v8 left, v8 right, int64_t count) {
  if (count >= panel_outputs) {
    store(y, left);
    store(y + 8, right);
    return;
  }
  store_part(y, left, count < 8 ? count : 8);
  if (count > 8) store_part(y + 8, right, count - 8);
}

template <WeightFormat format, int64_t rows>
ONCEOVER_LEAF void few_rows(const PackedMatrix& w, int64_t first_panel, int64_t panels, const RowGroup& x,
                            Output y) {
  for (int64_t p = first_panel; p < first_panel + panels; ++p) {
    v8 left[rows]{}, right[rows]{};
    if constexpr (is_quantised(format)) {
      few_integers<format, rows>(w.panel(p), blocks_of(w.inputs), x, left, right);
    } else {
      few_floats<format, rows>(w.panel(p), w.inputs, x, left, right);
    }
    const int64_t column = p * panel_outputs;
    for (int64_t r = 0; r < rows; ++r) store_outputs(y[r] + column, left[r], right[r], w.outputs - column);
  }
}

template <WeightFormat format, int64_t rows = tile_rows>
ONCEOVER_LEAF void few_rows_of(const PackedMatrix& w, int64_t first_panel, int64_t panels, const RowGroup& x,
                               Output y) {
  if constexpr (rows > 1) {
    if (x.rows < rows) return few_rows_of<format, rows - 1>(w, first_panel, panels, x, y);
  }
  few_rows<format, rows>(w, first_panel, panels, x, y);
}

// The slice of a panel that starts at `panel`.
template <WeightFormat format>
ONCEOVER_LEAF void unpack_slice(const std::byte* panel, int64_t inputs, Slice to) {
  if constexpr (is_quantised(format)) {
    for (int64_t b = 0; b < blocks_of(inputs); ++b, panel += block_bytes(format)) {
      store(to.scales + b * panel_outputs, load_f16(panel));
      store(to.scales + b * panel_outputs + 8, load_f16(panel + 16));
#pragma GCC unroll 16
      for (int64_t pair = 0; pair < block_pairs; ++pair) {
        for (int64_t half = 0; half < 2; ++half) {
          i16x16 w = load_pairs<format>(panel, pair, half);
          if constexpr (format == WeightFormat::Q4) w -= int16_t{8};
          store_pairs(to.pairs + ((b * block_pairs + pair) * 2 + half) * 16, w);
        }
      }
    }
  } else {
    for (int64_t i = 0; i < inputs * 2; ++i)
      store(to.values + i * 8, load_weights<format>(panel + i * 8 * weight_bytes<format>));
  }
}

// c[rows][16] (+)= the blocks of a slice.
template <int64_t rows>
ONCEOVER_LEAF_INLINE void integer_tile(int64_t blocks, const int16_t* q, const float* q_scales, Slice w,
                                       TileC c, bool add) {
  v8 left[rows], right[rows];
#pragma GCC unroll 8
  for (int64_t r = 0; r < rows; ++r) {
    left[r] = add ? load(c.data + r * c.row) : v8{};
    right[r] = add ? load(c.data + r * c.row + 8) : v8{};
  }
  for (int64_t b = 0; b < blocks; ++b) {
    i32x8 low[rows], high[rows];
#pragma GCC unroll 8
    for (int64_t r = 0; r < rows; ++r) low[r] = high[r] = i32x8{};
#pragma GCC unroll 4
    for (int64_t pair = 0; pair < block_pairs; ++pair, q += 2 * rows, w.pairs += 32) {
      const i16x16 w_low = load_pairs(w.pairs), w_high = load_pairs(w.pairs + 16);
#pragma GCC unroll 8
      for (int64_t r = 0; r < rows; ++r) {
        const i16x16 pairs = splat_pair(q + 2 * r);
        low[r] += multiply_pairs(w_low, pairs);
        high[r] += multiply_pairs(w_high, pairs);
      }
    }
    const v8 scale_low = load(w.scales + b * panel_outputs),
             scale_high = load(w.scales + b * panel_outputs + 8);
#pragma GCC unroll 8
    for (int64_t r = 0; r < rows; ++r) {
      const v8 scale = splat(q_scales[b * rows + r]);
      left[r] += to_float(low[r]) * (scale_low * scale);
      right[r] += to_float(high[r]) * (scale_high * scale);
    }
  }
#pragma GCC unroll 8
  for (int64_t r = 0; r < rows; ++r) {
    store(c.data + r * c.row, left[r]);
    store(c.data + r * c.row + 8, right[r]);
  }
}

// One group of rows against one slice, from input `first` on.
template <WeightFormat format, int64_t rows = tile_rows>
ONCEOVER_LEAF void slice_tile(const RowGroup& x, int64_t first, int64_t inputs, Slice w, TileC c, bool add) {
  if constexpr (rows > 1) {
    if (x.rows < rows) return slice_tile<format, rows - 1>(x, first, inputs, w, c, add);
  }
  if constexpr (is_quantised(format)) {
    integer_tile<rows>(blocks_of(inputs), x.q + first * rows, x.scales + first / block_inputs * rows, w, c,
                       add);
  } else {
    multiply_tile<rows>(inputs, {x.values + first * rows, 1, rows}, {w.values, tile_columns}, c, add);
  }
}

// The same where the matrix ends within the panel.
template <WeightFormat format>
ONCEOVER_LEAF void part_tile(const RowGroup& x, int64_t first, int64_t inputs, Slice w, Output y,
                             int64_t count, bool add) {
  float part[tile_rows * tile_columns]{};
  for (int64_t r = 0; r < x.rows; ++r) {
    for (int64_t j = 0; add && j < count; ++j) part[r * tile_columns + j] = y[r][j];
  }
  slice_tile<format>(x, first, inputs, w, {part, tile_columns}, add);
  for (int64_t r = 0; r < x.rows; ++r) {
    for (int64_t j = 0; j < count; ++j) y[r][j] = part[r * tile_columns + j];
  }
}

template <WeightFormat format>
ONCEOVER_LEAF void many_rows(const PackedMatrix& w, int64_t first_panel, int64_t panels, const PackedRows& x,
                             int64_t first_group, int64_t groups, Output y, float* scratch) {
  const Slice slice = carve_slice(scratch);
  constexpr int64_t bytes_an_input =
      is_quantised(format) ? block_bytes(format) / block_inputs : panel_outputs * weight_bytes<format>;
  static_assert(!is_quantised(format) || block_bytes(format) % block_inputs == 0);
  for (int64_t first = 0; first < w.inputs; first += slice_inputs) {
    const int64_t inputs = w.inputs - first < slice_inputs ? w.inputs - first : slice_inputs;
    for (int64_t p = first_panel; p < first_panel + panels; ++p) {
      unpack_slice<format>(w.panel(p) + first * bytes_an_input, inputs, slice);
      const int64_t column = p * panel_outputs, count = w.outputs - column;
      for (int64_t g = first_group; g < first_group + groups; ++g) {
        const RowGroup group = x.group(g);
        const Output to = Output{y[g * tile_rows], y.stride}.columns(column);
        if (count >= panel_outputs) {
          slice_tile<format>(group, first, inputs, slice, {to.data, to.stride}, first > 0);
        } else {
          part_tile<format>(group, first, inputs, slice, to, count, first > 0);
        }
      }
    }
  }
}

// Calls f<format>() of a format known only now.
#define ONCEOVER_BY_FORMAT(format, f, ...)       \
  switch (format) {                              \
    case WeightFormat::F32:                      \
      return f<WeightFormat::F32>(__VA_ARGS__);  \
    case WeightFormat::BF16:                     \
      return f<WeightFormat::BF16>(__VA_ARGS__); \
    case WeightFormat::F16:                      \
      return f<WeightFormat::F16>(__VA_ARGS__);  \
    case WeightFormat::Q8:                       \
      return f<WeightFormat::Q8>(__VA_ARGS__);   \
    case WeightFormat::Q4:                       \
      return f<WeightFormat::Q4>(__VA_ARGS__);   \
  }

ONCEOVER_LEAF void packed_few(const PackedMatrix& w, int64_t first_panel, int64_t panels, const RowGroup& x,
                              Output y){
    ONCEOVER_BY_FORMAT(w.format, few_rows_of, w, first_panel, panels, x, y)}

ONCEOVER_LEAF
    void packed_many(const PackedMatrix& w, int64_t first_panel, int64_t panels, const PackedRows& x,
                     int64_t first_group, int64_t groups, Output y, float* scratch){
        ONCEOVER_BY_FORMAT(w.format, many_rows, w, first_panel, panels, x, first_group, groups, y, scratch)}
#undef ONCEOVER_BY_FORMAT

ONCEOVER_LEAF void pack_floats(int64_t inputs, Input x, const RowGroup& to) {
  for (int64_t r = 0; r < to.rows; ++r) {
    for (int64_t i = 0; i < inputs; ++i) to.values[i * to.rows + r] = x[r][i];
  }
}

// A block of 32 inputs. A value that is not finite makes the scale NaN.
ONCEOVER_LEAF_INLINE void pack_integer_block(const float* x, int64_t row, int64_t block, const RowGroup& to) {
  const v8 magic = splat(12582912.0F);  // 1.5 * 2^23: rounds to a whole number in the low bits
  v8 size{}, excess{}, total{};
#pragma GCC unroll 4
  for (int64_t i = 0; i < block_inputs; i += 8) {
    const v8 value = load(x + i);
    size = larger(larger(value, -value), size);
    excess += value - value;
  }
  const float most = largest(size), wrong = sum(excess);
  const v8 inverse = splat(most > 1e-30F && wrong == 0 ? 32767 / most : 0);
  int32_t rounded[block_inputs];
#pragma GCC unroll 4
  for (int64_t i = 0; i < block_inputs; i += 8) {
    const v8 shifted = load(x + i) * inverse + magic;
    total += shifted - magic;
    std::memcpy(rounded + i, &shifted, sizeof(shifted));
  }
  int16_t* q = to.q + block * block_inputs * to.rows + 2 * row;
#pragma GCC unroll 16
  for (int64_t i = 0; i < block_inputs; i += 2, q += 2 * to.rows) {
    q[0] = static_cast<int16_t>(rounded[i]);
    q[1] = static_cast<int16_t>(rounded[i + 1]);
  }
  to.scales[block * to.rows + row] = wrong == 0 ? most / 32767 : wrong;
  to.offset[block * to.rows + row] = -8 * static_cast<int32_t>(sum(total));
}

ONCEOVER_LEAF void pack_group(WeightFormat format, int64_t inputs, Input x, const RowGroup& to) {
  if (!is_quantised(format)) return pack_floats(inputs, x, to);
  for (int64_t r = 0; r < to.rows; ++r) {
    for (int64_t b = 0; b < blocks_of(inputs); ++b) {
      const int64_t first = b * block_inputs, left = inputs - first;
      if (left >= block_inputs) {
        pack_integer_block(x[r] + first, r, b, to);
        continue;
      }
      float filled[block_inputs]{};
      std::memcpy(filled, x[r] + first, static_cast<size_t>(left) * sizeof(float));
      pack_integer_block(filled, r, b, to);
    }
  }
}

}  // namespace onceover::kernels::ONCEOVER_ISA
