// Attention by its definition, in double: what the kernels of training and of inference are held against.
#pragma once
#include "cpu/kernels/attention_shape.h"
#include "cpu/support.h"

namespace onceover::kernels {

// softmax(scale q kᵀ + mask) v by its definition; dense inputs {q, k, v}.
inline Doubles plain_attention(const AttendShape& s, const std::vector<Doubles>& in) {
  const auto value = [&](const Doubles& m, int64_t width, int64_t row, int64_t column) {
    return m[static_cast<size_t>(row * width + column)];
  };
  Doubles y(static_cast<size_t>(s.sequences * s.q_rows * s.heads * s.v_head_dim));
  for (int64_t row = 0; row < s.sequences * s.q_rows; ++row) {
    for (int64_t h = 0; h < s.heads; ++h) {
      const int64_t kh = h / (s.heads / s.kv_heads), base = row / s.q_rows * s.k_rows;
      const int64_t place = row % s.q_rows + s.q_offset;
      double total = 0;
      Doubles sum(static_cast<size_t>(s.v_head_dim));
      for (int64_t key = 0; key < s.k_rows; ++key) {
        if (key > place || (s.window > 0 && key <= place - s.window)) continue;
        if (s.first_key && key < s.first_key[row]) continue;
        double score = 0;
        for (int64_t j = 0; j < s.head_dim; ++j) {
          score += value(in[0], s.heads * s.head_dim, row, h * s.head_dim + j) *
                   value(in[1], s.kv_heads * s.head_dim, base + key, kh * s.head_dim + j);
        }
        const double p = std::exp(score * static_cast<double>(s.scale));
        total += p;
        for (int64_t j = 0; j < s.v_head_dim; ++j) {
          sum[static_cast<size_t>(j)] +=
              p * value(in[2], s.kv_heads * s.v_head_dim, base + key, kh * s.v_head_dim + j);
        }
      }
      for (int64_t j = 0; j < s.v_head_dim; ++j) {
        y[static_cast<size_t>((row * s.heads + h) * s.v_head_dim + j)] =
            total > 0 ? sum[static_cast<size_t>(j)] / total : 0;
      }
    }
  }
  return y;
}

}  // namespace onceover::kernels
