// Loops over one row: dots, RMSNorm, rotation, SwiGLU, softmax, AdamW, and the product for few rows. See
// leaves.h.
#pragma once
#include "cpu/kernels/leaves.h"
#include "cpu/kernels/leaves/vector.h"

namespace onceover::kernels::ONCEOVER_ISA {

ONCEOVER_LEAF float dot(int64_t n, const float* a, const float* b) {
  v8 s0{}, s1{}, s2{}, s3{};
  int64_t i = 0;
  for (; i + 32 <= n; i += 32) {
    s0 += load(a + i) * load(b + i);
    s1 += load(a + i + 8) * load(b + i + 8);
    s2 += load(a + i + 16) * load(b + i + 16);
    s3 += load(a + i + 24) * load(b + i + 24);
  }
  for (; i + 8 <= n; i += 8) s0 += load(a + i) * load(b + i);
  if (i < n) s1 += load_part(a + i, n - i) * load_part(b + i, n - i);
  return sum((s0 + s1) + (s2 + s3));
}

// Single precision inside blocks, double between them.
constexpr int64_t double_block = 512;

ONCEOVER_LEAF double sum_squares(int64_t n, const float* x) {
  double total = 0;
  for (int64_t i = 0; i < n; i += double_block) {
    for (int64_t j = 0; j < double_block; j += 16) __builtin_prefetch(x + i + double_block + j);
    total += dot(n - i < double_block ? n - i : double_block, x + i, x + i);
  }
  return total;
}

ONCEOVER_LEAF void add_scaled(int64_t n, float scale, const float* x, float* y) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) store(y + i, load(y + i) + load(x + i) * scale);
  for (; i < n; ++i) y[i] += x[i] * scale;
}

template <int rows>
ONCEOVER_LEAF void linear_rows(int64_t outputs, int64_t depth, Input x, Input w, Output y) {
  for (int64_t o = 0; o < outputs; ++o) {
    const float* weight = w[o];
    v8 even[rows]{}, odd[rows]{};
    int64_t i = 0;
    for (; i + 16 <= depth; i += 16) {
      const v8 w0 = load(weight + i), w1 = load(weight + i + 8);
#pragma GCC unroll 8
      for (int r = 0; r < rows; ++r) {
        even[r] += w0 * load(x[r] + i);
        odd[r] += w1 * load(x[r] + i + 8);
      }
    }
    for (int r = 0; r < rows; ++r) {
      float rest = 0;
      for (int64_t j = i; j < depth; ++j) rest += weight[j] * x[r][j];
      y[r][o] = sum(even[r] + odd[r]) + rest;
    }
  }
}

ONCEOVER_LEAF void linear_few(int64_t rows, int64_t outputs, int64_t depth, Input x, Input w, Output y) {
  // A few outputs at a time, so that their weights are still in the cache for the second group of rows.
  for (int64_t o = 0; o < outputs; o += 4) {
    const int64_t count = outputs - o < 4 ? outputs - o : 4;
    const Input weight{w[o], w.stride};
    int64_t r = 0;
    for (; r + 4 <= rows; r += 4)
      linear_rows<4>(count, depth, {x[r], x.stride}, weight, {y[r] + o, y.stride});
    const Input rest{x[r], x.stride};
    const Output to{y[r] + o, y.stride};
    if (rows - r == 3) linear_rows<3>(count, depth, rest, weight, to);
    if (rows - r == 2) linear_rows<2>(count, depth, rest, weight, to);
    if (rows - r == 1) linear_rows<1>(count, depth, rest, weight, to);
  }
}

// NaN when a square overflows: 1 / sqrt(inf) would hide that behind rows of 0.
ONCEOVER_LEAF float inverse_rms(int64_t n, const float* x, float eps) {
  const float mean_square = dot(n, x, x) / static_cast<float>(n);
  return 1.0F / __builtin_sqrtf(mean_square + eps) + (mean_square - mean_square);
}

ONCEOVER_LEAF void norm_forward(int64_t n, const float* x, const float* weight, float eps, float* y) {
  const float scale = inverse_rms(n, x, eps);
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) store(y + i, load(x + i) * scale * (weight ? load(weight + i) : splat(1)));
  for (; i < n; ++i) y[i] = x[i] * scale * (weight ? weight[i] : 1);
}

// dx += scale * (w dy - x * scale² * mean(w dy x)); dweight += dy x scale
ONCEOVER_LEAF void norm_backward(int64_t n, const float* x, const float* weight, float eps, const float* dy,
                                 float* dx, float* dweight) {
  const float scale = inverse_rms(n, x, eps);
  v8 projection{};
  float rest = 0;
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const v8 product = load(dy + i) * load(x + i);
    projection += weight ? product * load(weight + i) : product;
    if (dweight) store(dweight + i, load(dweight + i) + product * scale);
  }
  for (; i < n; ++i) {
    const float product = dy[i] * x[i];
    rest += weight ? product * weight[i] : product;
    if (dweight) dweight[i] += product * scale;
  }
  const float along = (sum(projection) + rest) * scale * scale / static_cast<float>(n);
  for (i = 0; i + 8 <= n; i += 8) {
    const v8 g = weight ? load(dy + i) * load(weight + i) : load(dy + i);
    store(dx + i, load(dx + i) + (g - load(x + i) * along) * scale);
  }
  for (; i < n; ++i) dx[i] += ((weight ? dy[i] * weight[i] : dy[i]) - x[i] * along) * scale;
}

template <class T>
ONCEOVER_LEAF_INLINE void rotate_pair(T cos, T sin, T& a, T& b) {
  const T turned = a * cos - b * sin;
  b = b * cos + a * sin;
  a = turned;
}

ONCEOVER_LEAF void rotate(int64_t half, const float* cos, const float* sin, float direction, const float* x,
                          float* y, bool add) {
  int64_t j = 0;
  for (; j + 8 <= half; j += 8) {
    v8 a = load(x + j), b = load(x + half + j);
    rotate_pair(load(cos + j), load(sin + j) * direction, a, b);
    store(y + j, add ? load(y + j) + a : a);
    store(y + half + j, add ? load(y + half + j) + b : b);
  }
  for (; j < half; ++j) {
    float a = x[j], b = x[half + j];
    rotate_pair(cos[j], sin[j] * direction, a, b);
    y[j] = add ? y[j] + a : a;
    y[half + j] = add ? y[half + j] + b : b;
  }
}

ONCEOVER_LEAF void swiglu_forward(int64_t n, const float* gate, const float* up, float* y) {
  for (int64_t i = 0; i < n; i += 8) {
    const int64_t count = n - i;
    if (count >= 8) {
      const v8 g = load(gate + i);
      store(y + i, g * sigmoid8(g) * load(up + i));
    } else {
      const v8 g = load_part(gate + i, count);
      store_part(y + i, g * sigmoid8(g) * load_part(up + i, count), count);
    }
  }
}

// dgate += dy up s (1 + gate (1 - s)), dup += dy gate s, s = sigmoid(gate)
ONCEOVER_LEAF_INLINE void swiglu_gradient(v8 gate, v8 up, v8 dy, v8& dgate, v8& dup) {
  const v8 s = sigmoid8(gate);
  dgate += dy * up * s * (1.0F + gate * (1.0F - s));
  dup += dy * gate * s;
}

ONCEOVER_LEAF void swiglu_backward(int64_t n, const float* gate, const float* up, const float* dy,
                                   float* dgate, float* dup) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    v8 a = load(dgate + i), b = load(dup + i);
    swiglu_gradient(load(gate + i), load(up + i), load(dy + i), a, b);
    store(dgate + i, a);
    store(dup + i, b);
  }
  if (i < n) {
    const int64_t count = n - i;
    v8 a = load_part(dgate + i, count), b = load_part(dup + i, count);
    swiglu_gradient(load_part(gate + i, count), load_part(up + i, count), load_part(dy + i, count), a, b);
    store_part(dgate + i, a, count);
    store_part(dup + i, b, count);
  }
}

ONCEOVER_LEAF float maximum(int64_t n, const float* x) {
  v8 m = splat(-INFINITY);
  float rest = -INFINITY;
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) m = larger(load(x + i), m);
  for (; i < n; ++i) rest = x[i] > rest ? x[i] : rest;
  const float most = largest(m);
  return most > rest ? most : rest;
}

ONCEOVER_LEAF double log_sum_exp(int64_t n, const float* x) {
  const float shift = maximum(n, x);
  double total = 0;
  for (int64_t block = 0; block < n; block += double_block) {
    const int64_t end = n - block < double_block ? n : block + double_block;
    v8 part{};
    int64_t i = block;
    for (; i + 8 <= end; i += 8) part += exp8(load(x + i) - shift);
    total += sum(part);
    for (; i < end; ++i) total += exp8(splat(x[i] - shift))[0];
  }
  return shift + std::log(total);
}

ONCEOVER_LEAF void exp_shifted(int64_t n, float shift, float factor, float* x) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) store(x + i, exp8(load(x + i) - shift) * factor);
  if (i < n) store_part(x + i, exp8(load_part(x + i, n - i) - shift) * factor, n - i);
}

// Plain loops suffice here: the compiler turns them, square root included, into vectors.
ONCEOVER_LEAF void adamw(int64_t n, const AdamwStep& step, const float* __restrict gradient,
                         float* __restrict weight, float* __restrict m, float* __restrict v) {
  const AdamwStep s = step;
  for (int64_t i = 0; i < n; ++i) {
    const float g = gradient[i] * s.gradient_scale;
    m[i] = s.beta1 * m[i] + (1 - s.beta1) * g;
    v[i] = s.beta2 * v[i] + (1 - s.beta2) * g * g;
    weight[i] = s.keep * weight[i] - s.step_size * m[i] / (__builtin_sqrtf(v[i]) * s.root_scale + s.epsilon);
  }
}

}  // namespace onceover::kernels::ONCEOVER_ISA
