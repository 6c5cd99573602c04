/* The intrinsics of AVX-512, for kernel files alone.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_AVX512_ISA_H
#define LANEBLOOM_AVX512_ISA_H

#include <immintrin.h>

/* Without optimisation gcc's intrinsics with constant operands are macros, and it reports their
 * conversions as ours. */
#if defined(__GNUC__) && !defined(__clang__) && !defined(__OPTIMIZE__)
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wconversion"
#endif

#endif
