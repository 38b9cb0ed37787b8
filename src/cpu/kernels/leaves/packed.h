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

constexpr int64_t block_pairs = block_inputs / 2, block_fours = block_inputs / 4;

// How far ahead of its use a weight is asked for.
constexpr int64_t prefetch_bytes = 2048;

// Unpacked weights of a slice.
struct Slice {
  float* values;   // [inputs][16]
  int16_t* pairs;  // Q8: [pairs][16][2]; Q4: bytes [fours][16][4]
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
        add_pairs(low[r], w_low, pairs);
        add_pairs(high[r], w_high, pairs);
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

// The numbers of a block: of Q8 as pairs of 16 bits, of Q4 as fours of bytes without the bias.
template <WeightFormat format>
ONCEOVER_LEAF_INLINE void unpack_block(const std::byte* block, int16_t* to) {
  constexpr int64_t units = format == WeightFormat::Q4 ? block_fours : block_pairs;
#pragma GCC unroll 16
  for (int64_t i = 0; i < units * 2; ++i, to += 16) {
    const int64_t unit = i / 2, half = i % 2;
    if constexpr (format == WeightFormat::Q4) {
      store_pairs(to, join_bytes(load_pairs<format>(block, 2 * unit, half),
                                 load_pairs<format>(block, 2 * unit + 1, half)));
    } else {
      store_pairs(to, load_pairs<format>(block, unit, half));
    }
  }
}

// 16-bit numbers that an unpacked block takes.
template <WeightFormat format>
constexpr int64_t unpacked_block = panel_outputs* block_inputs / (format == WeightFormat::Q4 ? 2 : 1);

// The slice of a panel that starts at `panel`.
template <WeightFormat format>
ONCEOVER_LEAF void unpack_slice(const std::byte* panel, int64_t inputs, Slice to) {
  if constexpr (is_quantised(format)) {
    for (int64_t b = 0; b < blocks_of(inputs); ++b, panel += block_bytes(format)) {
      store(to.scales + b * panel_outputs, load_f16(panel));
      store(to.scales + b * panel_outputs + 8, load_f16(panel + 16));
      unpack_block<format>(panel, to.pairs + b * unpacked_block<format>);
    }
  } else {
    for (int64_t i = 0; i < inputs * 2; ++i)
      store(to.values + i * 8, load_weights<format>(panel + i * 8 * weight_bytes<format>));
  }
}

// low and high [rows]: sums over a block of each row's products with 16 outputs. Of Q8: 16 pairs.
template <int64_t rows>
ONCEOVER_LEAF_INLINE void sum_block(const int16_t* q, const int16_t* w, i32x8 (&low)[rows],
                                    i32x8 (&high)[rows]) {
#pragma GCC unroll 8
  for (int64_t r = 0; r < rows; ++r) low[r] = high[r] = i32x8{};
#pragma GCC unroll 4
  for (int64_t pair = 0; pair < block_pairs; ++pair, q += 2 * rows, w += 32) {
    const i16x16 w_low = load_pairs(w), w_high = load_pairs(w + 16);
#pragma GCC unroll 8
    for (int64_t r = 0; r < rows; ++r) {
      const i16x16 pairs = splat_pair(q + 2 * r);
      add_pairs(low[r], w_low, pairs);
      add_pairs(high[r], w_high, pairs);
    }
  }
}

// Of Q4: 8 fours, whose sums fit 16 bits: 32 products of at most 15 * 127.
template <int64_t rows>
ONCEOVER_LEAF_INLINE void sum_block(const int8_t* q, const int16_t* w, i32x8 (&low)[rows],
                                    i32x8 (&high)[rows]) {
  const auto ones = reinterpret_cast<i16x16>(splat_int(0x00010001));
  i16x16 narrow_low[rows], narrow_high[rows];
#pragma GCC unroll 8
  for (int64_t r = 0; r < rows; ++r) narrow_low[r] = narrow_high[r] = i16x16{};
#pragma GCC unroll 2
  for (int64_t four = 0; four < block_fours; ++four, q += 4 * rows, w += 32) {
    const i16x16 w_low = load_pairs(w), w_high = load_pairs(w + 16);
#pragma GCC unroll 8
    for (int64_t r = 0; r < rows; ++r) {
      const i16x16 fours = splat_four(q + 4 * r);
      add_bytes(narrow_low[r], w_low, fours);
      add_bytes(narrow_high[r], w_high, fours);
    }
  }
#pragma GCC unroll 8
  for (int64_t r = 0; r < rows; ++r) {
    low[r] = multiply_pairs(narrow_low[r], ones);
    high[r] = multiply_pairs(narrow_high[r], ones);
  }
}

// c[rows][16] (+)= the blocks of a slice.
template <WeightFormat format, int64_t rows>
ONCEOVER_LEAF_INLINE void integer_tile(const RowGroup& x, Slice w, TileC c, bool add) {
  v8 left[rows], right[rows];
#pragma GCC unroll 8
  for (int64_t r = 0; r < rows; ++r) {
    left[r] = add ? load(c.data + r * c.row) : v8{};
    right[r] = add ? load(c.data + r * c.row + 8) : v8{};
  }
  for (int64_t b = 0; b < blocks_of(x.inputs); ++b) {
    i32x8 low[rows], high[rows];
    const int64_t input = b * block_inputs * rows;
    if constexpr (format == WeightFormat::Q4) {
      sum_block<rows>(x.bytes + input, w.pairs + b * unpacked_block<format>, low, high);
    } else {
      sum_block<rows>(x.q + input, w.pairs + b * unpacked_block<format>, low, high);
    }
    const v8 scale_low = load(w.scales + b * panel_outputs),
             scale_high = load(w.scales + b * panel_outputs + 8);
#pragma GCC unroll 8
    for (int64_t r = 0; r < rows; ++r) {
      const v8 scale = splat(x.scales[b * rows + r]);
      const i32x8 bias = splat_int(format == WeightFormat::Q4 ? x.offset[b * rows + r] : 0);
      left[r] += to_float(low[r] + bias) * (scale_low * scale);
      right[r] += to_float(high[r] + bias) * (scale_high * scale);
    }
  }
#pragma GCC unroll 8
  for (int64_t r = 0; r < rows; ++r) {
    store(c.data + r * c.row, left[r]);
    store(c.data + r * c.row + 8, right[r]);
  }
}

// One group of rows against one slice.
template <WeightFormat format, int64_t rows = tile_rows>
ONCEOVER_LEAF void slice_tile(const RowGroup& x, Slice w, TileC c, bool add) {
  if constexpr (rows > 1) {
    if (x.rows < rows) return slice_tile<format, rows - 1>(x, w, c, add);
  }
  if constexpr (is_quantised(format)) {
    integer_tile<format, rows>(x, w, c, add);
  } else {
    multiply_tile<rows>(x.inputs, {x.values, 1, rows}, {w.values, tile_columns}, c, add);
  }
}

// The same where the matrix ends within the panel.
template <WeightFormat format>
ONCEOVER_LEAF void part_tile(const RowGroup& x, Slice w, Output y, int64_t count, bool add) {
  float part[tile_rows * tile_columns]{};
  for (int64_t r = 0; r < x.rows; ++r) {
    for (int64_t j = 0; add && j < count; ++j) part[r * tile_columns + j] = y[r][j];
  }
  slice_tile<format>(x, w, {part, tile_columns}, add);
  for (int64_t r = 0; r < x.rows; ++r) {
    for (int64_t j = 0; j < count; ++j) y[r][j] = part[r * tile_columns + j];
  }
}

// The lines of a part of a panel that is unpacked next, while another is multiplied.
ONCEOVER_LEAF void ask_for(const std::byte* part, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(part + i);
}

template <WeightFormat format>
ONCEOVER_LEAF void many_rows(const PackedMatrix& w, int64_t first_panel, int64_t panels, const PackedRows& x,
                             int64_t first_group, int64_t groups, Output y, float* scratch) {
  const Slice slice = carve_slice(scratch);
  constexpr int64_t bytes_an_input =
      is_quantised(format) ? block_bytes(format) / block_inputs : panel_outputs * weight_bytes<format>;
  static_assert(!is_quantised(format) || block_bytes(format) % block_inputs == 0);
  const int64_t end_panel = first_panel + panels;
  for (int64_t s = 0; s < x.slices(); ++s) {
    const int64_t first = s * slice_inputs, inputs = x.group(first_group, s).inputs;
    for (int64_t p = first_panel; p < end_panel; ++p) {
      unpack_slice<format>(w.panel(p) + first * bytes_an_input, inputs, slice);
      if (p + 1 < end_panel) ask_for(w.panel(p + 1) + first * bytes_an_input, inputs * bytes_an_input);
      const int64_t column = p * panel_outputs, count = w.outputs - column;
      for (int64_t g = first_group; g < first_group + groups; ++g) {
        const RowGroup group = x.group(g, s);
        const Output to = Output{y[g * tile_rows], y.stride}.columns(column);
        if (count >= panel_outputs) {
          slice_tile<format>(group, slice, {to.data, to.stride}, first > 0);
        } else {
          part_tile<format>(group, slice, to, count, first > 0);
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
                     int64_t first_group, int64_t groups, Output y, float* scratch) {
  ONCEOVER_BY_FORMAT(w.format, many_rows, w, first_panel, panels, x, first_group, groups, y, scratch)
}
#undef ONCEOVER_BY_FORMAT

}  // namespace onceover::kernels::ONCEOVER_ISA
