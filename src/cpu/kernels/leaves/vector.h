// Eight floats at a time, for the bodies that leaves_portable.cpp and leaves_avx2.cpp both compile.
//
// ONCEOVER_TARGET is the function attribute of the instruction set, ONCEOVER_ISA the namespace,
// ONCEOVER_TILE_ROWS the rows of a register tile; the including file sets them. Vectors are the compiler's
// own extension: without AVX2 the same text becomes two SSE (or NEON) operations each. Intrinsics twice over
// were rejected: two texts to keep equal.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

namespace onceover::kernels::ONCEOVER_ISA {

typedef float v8 __attribute__((vector_size(32)));
typedef float v8_unaligned __attribute__((vector_size(32), aligned(4), may_alias));
typedef uint32_t u32x8 __attribute__((vector_size(32)));

#define ONCEOVER_LEAF ONCEOVER_TARGET static inline
#define ONCEOVER_LEAF_INLINE ONCEOVER_TARGET static inline __attribute__((always_inline))

ONCEOVER_LEAF_INLINE v8 load(const float* x) { return *reinterpret_cast<const v8_unaligned*>(x); }
ONCEOVER_LEAF_INLINE void store(float* y, v8 x) { *reinterpret_cast<v8_unaligned*>(y) = x; }
ONCEOVER_LEAF_INLINE v8 splat(float x) { return v8{x, x, x, x, x, x, x, x}; }
ONCEOVER_LEAF_INLINE v8 larger(v8 a, v8 b) { return a > b ? a : b; }

// The first `count` < 8 elements, the rest zero.
ONCEOVER_LEAF_INLINE v8 load_part(const float* x, int64_t count) {
  v8 y{};
  std::memcpy(&y, x, sizeof(float) * static_cast<size_t>(count));
  return y;
}
ONCEOVER_LEAF_INLINE void store_part(float* y, v8 x, int64_t count) {
  std::memcpy(y, &x, sizeof(float) * static_cast<size_t>(count));
}

ONCEOVER_LEAF_INLINE float sum(v8 x) {
  return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
}
ONCEOVER_LEAF_INLINE float largest(v8 x) {
  float y = x[0];
  for (int i = 1; i < 8; ++i) y = x[i] > y ? x[i] : y;
  return y;
}

// exp to 2 units in the last place; below -87.3 it is 0, above 88.3 it stays at exp(88.3). NaN stays NaN.
ONCEOVER_LEAF_INLINE v8 exp8(v8 x) {
  const v8 clamped = x > 88.3F ? splat(88.3F) : x;
  const v8 shifted =
      clamped * 1.44269504F + 12582912.0F;  // 1.5 * 2^23: rounds to a whole number in the low bits
  const v8 whole = shifted - 12582912.0F;
  v8 r = whole * -0.693359375F + clamped;
  r = whole * 2.12194440e-4F + r;
  v8 p = r * 1.9875691500e-4F + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * (r * r) + (r + 1.0F);
  const u32x8 power = (reinterpret_cast<u32x8>(shifted) + (127U - 0x4B400000U))
                      << 23;  // wraps outside the range
  return x < -87.3F ? splat(0) : p * reinterpret_cast<v8>(power);
}

ONCEOVER_LEAF_INLINE v8 sigmoid8(v8 x) { return 1.0F / (1.0F + exp8(-x)); }

}  // namespace onceover::kernels::ONCEOVER_ISA
