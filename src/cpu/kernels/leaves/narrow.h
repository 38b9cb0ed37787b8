// Numbers of 16 and 8 bits, as weights and caches hold them: what the compiler's vectors do not offer in one
// instruction. ONCEOVER_INTRINSICS chooses the instructions.
#pragma once
#include <cstddef>

#include "cpu/kernels/leaves/vector.h"
#include "weights/dtype.h"

#ifdef ONCEOVER_INTRINSICS
#include <immintrin.h>
#endif

namespace onceover::kernels::ONCEOVER_ISA {

typedef int16_t i16x16 __attribute__((vector_size(32)));
typedef uint16_t u16x16 __attribute__((vector_size(32)));
typedef int32_t i32x8 __attribute__((vector_size(32)));
typedef int16_t i16x16_unaligned __attribute__((vector_size(32), aligned(2), may_alias));

ONCEOVER_LEAF_INLINE i32x8 splat_int(int32_t x) { return i32x8{x, x, x, x, x, x, x, x}; }
ONCEOVER_LEAF_INLINE v8 to_float(i32x8 x) { return __builtin_convertvector(x, v8); }

ONCEOVER_LEAF_INLINE i16x16 load_pairs(const int16_t* x) {
  return *reinterpret_cast<const i16x16_unaligned*>(x);
}
ONCEOVER_LEAF_INLINE void store_pairs(int16_t* y, i16x16 x) { *reinterpret_cast<i16x16_unaligned*>(y) = x; }

ONCEOVER_LEAF_INLINE u16x16 load_words(const std::byte* x) {
  u16x16 y;
  std::memcpy(&y, x, sizeof(y));
  return y;
}

// The 4 bytes at x in all places.
ONCEOVER_LEAF_INLINE i16x16 splat_word(const void* x) {
  int32_t word;
  std::memcpy(&word, x, sizeof(word));
  return reinterpret_cast<i16x16>(splat_int(word));
}

#ifdef ONCEOVER_INTRINSICS

ONCEOVER_LEAF_INLINE v8 widen(const uint16_t* x) {
  return reinterpret_cast<v8>(_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x))));
}
ONCEOVER_LEAF_INLINE v8 widen(const int8_t* x) {
  const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(x));
  return reinterpret_cast<v8>(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes)));
}
ONCEOVER_LEAF_INLINE uint16_t narrow_half(float x) {
  return static_cast<uint16_t>(_mm_cvtsi128_si32(_mm_cvtps_ph(_mm_set_ss(x), _MM_FROUND_TO_NEAREST_INT)));
}

// y[i] = a[2i] b[2i] + a[2i + 1] b[2i + 1]
ONCEOVER_LEAF_INLINE i32x8 multiply_pairs(i16x16 a, i16x16 b) {
  return reinterpret_cast<i32x8>(
      _mm256_madd_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
}

// What follows adds the products of one row with 16 outputs, half of them in each of two vectors. Assembly,
// because GCC 12 moves the products of a register tile in front of their sums and spills them (half the
// speed), and because Zen 3 runs two products and then two sums faster than one after another.

// low[i] += w_low[2i] x[2i] + w_low[2i + 1] x[2i + 1] of bytes, without sign in w, with one in x; high alike.
// The sums must fit.
ONCEOVER_LEAF_INLINE void add_bytes(i16x16& low, i16x16& high, i16x16 w_low, i16x16 w_high, i16x16 x) {
  i16x16 product;
  asm("vpmaddubsw %1, %4, %0\n\tvpmaddubsw %1, %5, %1\n\tvpaddw %0, %2, %2\n\tvpaddw %1, %3, %3"
      : "=&x"(product), "+&x"(x), "+x"(low), "+x"(high)
      : "x"(w_low), "x"(w_high));
}

// low[i] += factor * (w_low[4i] x[4i] + ... + w_low[4i + 3] x[4i + 3]) of bytes, high alike. `factors` holds
// the factor in all places. The sum of two products of bytes must fit 16 bits.
ONCEOVER_LEAF_INLINE void add_fours(i32x8& low, i32x8& high, i16x16 w_low, i16x16 w_high, i16x16 x,
                                    i16x16 factors) {
  i16x16 product;
  asm("vpmaddubsw %1, %4, %0\n\tvpmaddubsw %1, %5, %1\n\t"
      "vpmaddwd %6, %0, %0\n\tvpmaddwd %6, %1, %1\n\t"
      "vpaddd %0, %2, %2\n\tvpaddd %1, %3, %3"
      : "=&x"(product), "+&x"(x), "+x"(low), "+x"(high)
      : "x"(w_low), "x"(w_high), "x"(factors));
}

ONCEOVER_LEAF_INLINE v8 load_bf16(const std::byte* x) {
  const __m256i words = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)));
  return reinterpret_cast<v8>(_mm256_slli_epi32(words, 16));
}

#else

typedef uint16_t u16x8 __attribute__((vector_size(16), aligned(2), may_alias));
typedef int8_t i8x8 __attribute__((vector_size(8), aligned(1), may_alias));

// The exponent moves by a multiplication, which makes subnormal numbers normal ones, too.
ONCEOVER_LEAF_INLINE v8 widen(const uint16_t* x) {
  const u32x8 half = __builtin_convertvector(*reinterpret_cast<const u16x8*>(x), u32x8);
  const u32x8 magnitude = (half & 0x7FFFU) << 13;
  const v8 moved = reinterpret_cast<v8>(magnitude) * 0x1p112F;
  const u32x8 unbounded = reinterpret_cast<u32x8>(magnitude >= 0x0F800000U) & 0x7F800000U;
  return reinterpret_cast<v8>(reinterpret_cast<u32x8>(moved) | unbounded | (half & 0x8000U) << 16);
}
ONCEOVER_LEAF_INLINE v8 widen(const int8_t* x) {
  return __builtin_convertvector(__builtin_convertvector(*reinterpret_cast<const i8x8*>(x), i32x8), v8);
}
ONCEOVER_LEAF_INLINE uint16_t narrow_half(float x) { return f32_to_f16(x); }

ONCEOVER_LEAF_INLINE i32x8 multiply_pairs(i16x16 a, i16x16 b) {
  i32x8 y;
  for (int i = 0; i < 8; ++i) y[i] = a[2 * i] * b[2 * i] + a[2 * i + 1] * b[2 * i + 1];
  return y;
}

typedef uint8_t u8x32 __attribute__((vector_size(32)));
typedef int8_t i8x32 __attribute__((vector_size(32)));

ONCEOVER_LEAF_INLINE void add_bytes(i16x16& sum, u8x32 w, i8x32 x) {
  for (int i = 0; i < 16; ++i)
    sum[i] = static_cast<int16_t>(sum[i] + w[2 * i] * x[2 * i] + w[2 * i + 1] * x[2 * i + 1]);
}
ONCEOVER_LEAF_INLINE void add_bytes(i16x16& low, i16x16& high, i16x16 w_low, i16x16 w_high, i16x16 x) {
  add_bytes(low, reinterpret_cast<u8x32>(w_low), reinterpret_cast<i8x32>(x));
  add_bytes(high, reinterpret_cast<u8x32>(w_high), reinterpret_cast<i8x32>(x));
}

ONCEOVER_LEAF_INLINE void add_fours(i32x8& low, i32x8& high, i16x16 w_low, i16x16 w_high, i16x16 x,
                                    i16x16 factors) {
  i16x16 pairs_low{}, pairs_high{};
  add_bytes(pairs_low, pairs_high, w_low, w_high, x);
  low += multiply_pairs(pairs_low, factors);
  high += multiply_pairs(pairs_high, factors);
}

ONCEOVER_LEAF_INLINE v8 load_bf16(const std::byte* x) {
  v8 y;
  for (int i = 0; i < 8; ++i) {
    uint16_t bits;
    std::memcpy(&bits, x + 2 * i, sizeof(bits));
    y[i] = bf16_to_f32(bits);
  }
  return y;
}

#endif

ONCEOVER_LEAF_INLINE v8 load_f16(const std::byte* x) { return widen(reinterpret_cast<const uint16_t*>(x)); }

}  // namespace onceover::kernels::ONCEOVER_ISA
