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

constexpr int64_t block_fours = block_inputs / 4;

// Ten sums leave as many registers as a Q8 block needs besides, twelve do not.
ONCEOVER_LEAF_INLINE constexpr int64_t rows_of_group(WeightFormat format) {
  return format == WeightFormat::Q8 && tile_rows > 5 ? 5 : tile_rows;
}
ONCEOVER_LEAF int64_t group_rows(WeightFormat format) { return rows_of_group(format); }

// How far ahead of its use a weight is asked for.
constexpr int64_t prefetch_bytes = 2048;

// Weights of a slice: unpacked, or Q8 where they lie.
struct Slice {
  float* values;   // [inputs][16]
  int16_t* bytes;  // Q4: bytes [fours][16][4]
  float* scales;   // Q4: [blocks][16]
  const std::byte* panel;
};

ONCEOVER_LEAF Slice carve_slice(float* scratch) {
  Carver part{scratch};
  float* values = part.take(slice_inputs * panel_outputs);
  return {values, reinterpret_cast<int16_t*>(values), part.take(slice_inputs / block_inputs * panel_outputs),
          nullptr};
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

constexpr int64_t scale_bytes = panel_outputs * 2;

// Four `four` of a Q4 block, outputs 8 * half and on, as bytes [8 outputs][4].
ONCEOVER_LEAF_INLINE i16x16 unpack_four(const std::byte* block, int64_t four, int64_t half) {
  const u16x16 words = load_words(block + scale_bytes + (four / 2 * 2 + half) * 32);
  return reinterpret_cast<i16x16>(words >> static_cast<uint16_t>(four % 2 * 4) & uint16_t{0x0F0F});
}

// low and high[rows]: sums over a block of each row's products with 16 outputs. `ahead`: later blocks are
// still in memory.
template <int64_t rows, bool ahead>
ONCEOVER_LEAF_INLINE void sum_block(const std::byte* block, const Four* x, const int32_t* offset,
                                    i32x8 (&low)[rows], i32x8 (&high)[rows]) {
#pragma GCC unroll 8
  for (int64_t r = 0; r < rows; ++r) low[r] = high[r] = splat_int(offset[r]);
  const std::byte* w = block + scale_bytes;
#pragma GCC unroll 2
  for (int64_t four = 0; four < block_fours; ++four, x += rows, w += 64) {
    if constexpr (ahead) __builtin_prefetch(w + prefetch_bytes);
    const auto w_low = reinterpret_cast<i16x16>(load_words(w)),
               w_high = reinterpret_cast<i16x16>(load_words(w + 32));
#pragma GCC unroll 8
    for (int64_t r = 0; r < rows; ++r)
      add_fours(low[r], high[r], w_low, w_high, splat_word(x[r].q), splat_word(x[r].factor));
  }
}

// Of Q4, where `weights(four, half)` gives its bytes. The 16 products of a lane, at most 15 * 127 each, fit
// 16 bits.
template <int64_t rows, class Weights>
ONCEOVER_LEAF_INLINE void sum_block(const Weights& weights, const int8_t* q, const int32_t* offset,
                                    i32x8 (&low)[rows], i32x8 (&high)[rows]) {
  i16x16 narrow_low[rows], narrow_high[rows];
#pragma GCC unroll 8
  for (int64_t r = 0; r < rows; ++r) narrow_low[r] = narrow_high[r] = i16x16{};
#pragma GCC unroll 8
  for (int64_t four = 0; four < block_fours; ++four, q += 4 * rows) {
    const i16x16 w_low = weights(four, 0), w_high = weights(four, 1);
#pragma GCC unroll 8
    for (int64_t r = 0; r < rows; ++r)
      add_bytes(narrow_low[r], narrow_high[r], w_low, w_high, splat_word(q + 4 * r));
  }
  const auto ones = reinterpret_cast<i16x16>(splat_int(0x00010001));
#pragma GCC unroll 8
  for (int64_t r = 0; r < rows; ++r) {
    const i32x8 bias = splat_int(offset[r]);
    low[r] = multiply_pairs(narrow_low[r], ones) + bias;
    high[r] = multiply_pairs(narrow_high[r], ones) + bias;
  }
}

// y[rows][16] += the blocks' sums. `rows` lines of a group whose lines have `rows` entries.
template <WeightFormat format, int64_t rows>
ONCEOVER_LEAF_INLINE void few_integers(const std::byte* panel, int64_t blocks, const RowGroup& x,
                                       v8 (&left)[rows], v8 (&right)[rows]) {
  for (int64_t b = 0; b < blocks; ++b, panel += block_bytes(format)) {
    i32x8 low[rows], high[rows];
    if constexpr (format == WeightFormat::Q8) {
      sum_block<rows, true>(panel, x.fours + b * block_fours * rows, x.offset + b * rows, low, high);
    } else {
      const auto weights = [panel](int64_t four, int64_t half) ONCEOVER_TARGET {
        if (half == 0 && four % 2 == 0) __builtin_prefetch(panel + prefetch_bytes + four / 2 * 64);
        return unpack_four(panel, four, half);
      };
      sum_block<rows>(weights, x.bytes + b * block_inputs * rows, x.offset + b * rows, low, high);
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

template <WeightFormat format, int64_t rows = rows_of_group(format)>
ONCEOVER_LEAF void few_rows_of(const PackedMatrix& w, int64_t first_panel, int64_t panels, const RowGroup& x,
                               Output y) {
  if constexpr (rows > 1) {
    if (x.rows < rows) return few_rows_of<format, rows - 1>(w, first_panel, panels, x, y);
  }
  few_rows<format, rows>(w, first_panel, panels, x, y);
}

// The slice of a panel that starts at `panel`.
template <WeightFormat format>
ONCEOVER_LEAF Slice unpack_slice(const std::byte* panel, int64_t inputs, Slice to) {
  if constexpr (format == WeightFormat::Q8) {
    to.panel = panel;
  } else if constexpr (format == WeightFormat::Q4) {
    for (int64_t b = 0; b < blocks_of(inputs); ++b, panel += block_bytes(format)) {
      store(to.scales + b * panel_outputs, load_f16(panel));
      store(to.scales + b * panel_outputs + 8, load_f16(panel + 16));
      int16_t* bytes = to.bytes + b * block_fours * 32;
#pragma GCC unroll 16
      for (int64_t i = 0; i < block_fours * 2; ++i)
        store_pairs(bytes + i * 16, unpack_four(panel, i / 2, i % 2));
    }
  } else {
    for (int64_t i = 0; i < inputs * 2; ++i)
      store(to.values + i * 8, load_weights<format>(panel + i * 8 * weight_bytes<format>));
  }
  return to;
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
    v8 scale_low, scale_high;
    if constexpr (format == WeightFormat::Q8) {
      const std::byte* block = w.panel + b * block_bytes(format);
      sum_block<rows, false>(block, x.fours + b * block_fours * rows, x.offset + b * rows, low, high);
      scale_low = load_f16(block), scale_high = load_f16(block + 16);
    } else {
      const int16_t* bytes = w.bytes + b * block_fours * 32;
      const auto weights = [bytes](int64_t four, int64_t half)
                               ONCEOVER_TARGET { return load_pairs(bytes + four * 32 + half * 16); };
      sum_block<rows>(weights, x.bytes + b * block_inputs * rows, x.offset + b * rows, low, high);
      scale_low = load(w.scales + b * panel_outputs), scale_high = load(w.scales + b * panel_outputs + 8);
    }
#pragma GCC unroll 8
    for (int64_t r = 0; r < rows; ++r) {
      const v8 scale = splat(x.scales[b * rows + r]);
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

// One group of rows against one slice.
template <WeightFormat format, int64_t rows = rows_of_group(format)>
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
  const Slice room = carve_slice(scratch);
  constexpr int64_t bytes_an_input =
      is_quantised(format) ? block_bytes(format) / block_inputs : panel_outputs * weight_bytes<format>;
  static_assert(!is_quantised(format) || block_bytes(format) % block_inputs == 0);
  const int64_t end_panel = first_panel + panels;
  for (int64_t s = 0; s < x.slices(); ++s) {
    const int64_t first = s * slice_inputs, inputs = x.group(first_group, s).inputs;
    for (int64_t p = first_panel; p < end_panel; ++p) {
      const Slice slice = unpack_slice<format>(w.panel(p) + first * bytes_an_input, inputs, room);
      if (p + 1 < end_panel) ask_for(w.panel(p + 1) + first * bytes_an_input, inputs * bytes_an_input);
      const int64_t column = p * panel_outputs, count = w.outputs - column;
      for (int64_t g = first_group; g < first_group + groups; ++g) {
        const RowGroup group = x.group(g, s);
        const Output to = Output{y[g * rows_of_group(format)], y.stride}.columns(column);
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
