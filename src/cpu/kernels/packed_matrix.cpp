#include "cpu/kernels/packed_matrix.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "cpu/kernels/threads.h"
#include "weights/dtype.h"

namespace onceover::kernels {
namespace {

using Block = float[block_inputs];

template <class T>
void put(std::byte* to, int64_t index, T value) {
  std::memcpy(to + index * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

template <class T>
T get(const std::byte* from, int64_t index) {
  T value;
  std::memcpy(&value, from + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

// The element of largest magnitude, with its sign; NaN if there is one.
float extreme(const Block& w) {
  float most = 0;
  for (const float x : w) {
    if (!(std::fabs(x) <= std::fabs(most))) most = x;
    if (std::isnan(most)) break;
  }
  return most;
}

// What of `w` a scale leaves: q in [low, high]; returns the squared error.
float round_block(const Block& w, float scale, float low, float high, float (&q)[block_inputs]) {
  const float inverse = scale != 0 ? 1 / scale : 0;
  float error = 0;
  for (int64_t i = 0; i < block_inputs; ++i) {
    q[i] = std::clamp(std::nearbyint(w[i] * inverse), low, high);
    const float difference = w[i] - scale * q[i];
    error += difference * difference;
  }
  return error;
}

float as_stored(float scale) { return f16_to_f32(f32_to_f16(scale)); }

// The scale of a Q8 block and its numbers in [-127, 127].
float quantise8(const Block& w, float (&q)[block_inputs]) {
  const float scale = as_stored(std::fabs(extreme(w)) / 127);
  if (!std::isfinite(scale)) return std::fill_n(q, block_inputs, 1.0F), scale;
  round_block(w, scale, -127, 127, q);
  return scale;
}

// The scale of a Q4 block and its numbers in [-8, 7]: the largest element falls on -8, or a little beyond the
// end when that serves the others better.
float quantise4(const Block& w, float (&q)[block_inputs]) {
  const float widest = as_stored(extreme(w) / -8);
  if (!std::isfinite(widest)) return std::fill_n(q, block_inputs, 1.0F), widest;
  float best = widest, least = round_block(w, widest, -8, 7, q);
  for (const float factor : {0.8F, 0.85F, 0.9F, 0.95F, 1.05F}) {
    const float scale = as_stored(widest * factor);
    float tried[block_inputs];
    const float error = round_block(w, scale, -8, 7, tried);
    if (error < least) {
      least = error, best = scale;
      std::copy_n(tried, block_inputs, q);
    }
  }
  return best;
}

// Where the number of input `i` of a block lies.
int64_t byte_of_q8(int64_t output, int64_t i) { return (i / 4 * panel_outputs + output) * 4 + i % 4; }
int64_t byte_of_q4(int64_t output, int64_t i) { return (i / 8 * panel_outputs + output) * 4 + i % 4; }

void store_block(WeightFormat format, int64_t output, float scale, const float (&q)[block_inputs],
                 std::byte* block) {
  put(block, output, f32_to_f16(scale));
  std::byte* numbers = block + panel_outputs * 2;
  for (int64_t i = 0; i < block_inputs; ++i) {
    if (format == WeightFormat::Q8) {
      put(numbers, byte_of_q8(output, i), static_cast<uint8_t>(q[i] + 128));
    } else {
      const int64_t at = byte_of_q4(output, i);
      const auto nibble = static_cast<uint8_t>(q[i] + 8);
      put(numbers, at, static_cast<uint8_t>(i % 8 < 4 ? nibble : get<uint8_t>(numbers, at) | nibble << 4));
    }
  }
}

void pack_block(WeightFormat format, const float* weight, int64_t count, int64_t output, std::byte* block) {
  Block w{}, q{};
  if (weight) std::copy_n(weight, count, w);
  const float scale = format == WeightFormat::Q8 ? quantise8(w, q) : quantise4(w, q);
  store_block(format, output, scale, q, block);
}

void put_float(WeightFormat format, std::byte* panel, int64_t index, float value) {
  if (format == WeightFormat::F32) return put(panel, index, value);
  put(panel, index, format == WeightFormat::F16 ? f32_to_f16(value) : f32_to_bf16(value));
}

// Output `o` of a panel; weight null = the filling.
void pack_row(const PackedMatrix& m, const float* weight, int64_t o, std::byte* panel) {
  if (!is_quantised(m.format)) {
    for (int64_t i = 0; i < m.inputs; ++i)
      put_float(m.format, panel, i * panel_outputs + o, weight ? weight[i] : 0);
    return;
  }
  for (int64_t b = 0; b < blocks_of(m.inputs); ++b) {
    const int64_t first = b * block_inputs;
    pack_block(m.format, weight ? weight + first : nullptr, std::min(block_inputs, m.inputs - first), o,
               panel + b * block_bytes(m.format));
  }
}

float block_element(WeightFormat format, const std::byte* block, int64_t output, int64_t i) {
  const float scale = f16_to_f32(get<uint16_t>(block, output));
  const std::byte* numbers = block + panel_outputs * 2;
  if (format == WeightFormat::Q8)
    return scale * static_cast<float>(get<uint8_t>(numbers, byte_of_q8(output, i)) - 128);
  const auto both = get<uint8_t>(numbers, byte_of_q4(output, i));
  return scale * static_cast<float>((i % 8 < 4 ? both & 15 : both >> 4) - 8);
}

}  // namespace

void pack(Input weight, const PackedMatrix& shape, std::byte* to) {
  const double operations = static_cast<double>(shape.outputs) * static_cast<double>(shape.inputs) * 16;
#pragma omp parallel for num_threads(threads_for(operations, shape.panels())) schedule(static)
  for (int64_t p = 0; p < shape.panels(); ++p) {
    for (int64_t o = 0; o < panel_outputs; ++o) {
      const int64_t row = p * panel_outputs + o;
      pack_row(shape, row < shape.outputs ? weight[row] : nullptr, o, to + p * shape.panel_bytes());
    }
  }
}

void unpack_row(const PackedMatrix& m, int64_t output, float* to) {
  const std::byte* panel = m.panel(output / panel_outputs);
  const int64_t o = output % panel_outputs;
  for (int64_t i = 0; i < m.inputs; ++i) {
    const int64_t at = i * panel_outputs + o;
    switch (m.format) {
      case WeightFormat::F32:
        to[i] = get<float>(panel, at);
        break;
      case WeightFormat::BF16:
        to[i] = bf16_to_f32(get<uint16_t>(panel, at));
        break;
      case WeightFormat::F16:
        to[i] = f16_to_f32(get<uint16_t>(panel, at));
        break;
      case WeightFormat::Q8:
      case WeightFormat::Q4:
        to[i] =
            block_element(m.format, panel + i / block_inputs * block_bytes(m.format), o, i % block_inputs);
    }
  }
}

}  // namespace onceover::kernels
