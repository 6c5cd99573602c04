/* AVX2: its intrinsics, and whether they are to be had. Off x86, where only tests build these
 * kernels, by SIMDe.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_AVX2_ISA_H
#define LANEBLOOM_AVX2_ISA_H

#include <stdbool.h>

#if defined(__x86_64__)
#include <immintrin.h>
#define ISA_SUFFIX ""
#define ISA_OPERAND "+x" /* asm's: 32 bytes */

/* The compiler's library asks the CPU once, when the program starts, and counts AVX2 only where the
 * operating system saves its registers (CPUID's OSXSAVE, then XGETBV; tests/cpus.bats hides
 * each). */
static inline bool isa_usable(void)
{
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}

#else
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx2.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#define ISA_SUFFIX "(simde)"
#define ISA_OPERAND "+m" /* no register has as many */

static inline bool isa_usable(void)
{
  return true;
}

/* SIMDe 0.7.4 loads what the mask leaves out as well, though it may lie on an unmapped page. Here
 * each lane of the mask becomes the lane that is loaded, or 0. */
#undef _mm_maskload_epi32
#undef _mm256_maskload_epi32

static inline void isa_maskload(const void *from, int32_t *lanes, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (lanes[i] < 0)
      memcpy(&lanes[i], (const uint8_t *)from + i * sizeof *lanes, sizeof *lanes);
    else
      lanes[i] = 0;
}

static inline __m128i _mm_maskload_epi32(const void *from, __m128i mask)
{
  int32_t lanes[4];
  _mm_storeu_si128((void *)lanes, mask);
  isa_maskload(from, lanes, 4);
  return _mm_loadu_si128((const void *)lanes);
}

static inline __m256i _mm256_maskload_epi32(const void *from, __m256i mask)
{
  int32_t lanes[8];
  _mm256_storeu_si256((void *)lanes, mask);
  isa_maskload(from, lanes, 8);
  return _mm256_loadu_si256((const void *)lanes);
}
#endif

/* Without optimisation gcc's intrinsics with constant operands are macros, as SIMDe's always are,
 * and compilers report their conversions as ours. */
#if (defined(__GNUC__) && !defined(__clang__) && !defined(__OPTIMIZE__)) || !defined(__x86_64__)
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wconversion"
#endif

#endif
