/* SSE4.1 and POPCNT: their intrinsics, and whether they are to be had.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_SSE41_ISA_H
#define LANEBLOOM_SSE41_ISA_H

#include <smmintrin.h>
#include <stdbool.h>

/* SSSE3 has the byte shuffle. A CPU with SSE4.1 has it as well, but CPUID can be made to say
 * otherwise. */
static inline bool isa_usable(void)
{
  return __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("sse4.1") &&
         __builtin_cpu_supports("popcnt");
}

/* Without optimisation gcc's intrinsics with constant operands are macros, and it reports their
 * conversions as ours. */
#if defined(__GNUC__) && !defined(__clang__) && !defined(__OPTIMIZE__)
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wconversion"
#endif

#endif
