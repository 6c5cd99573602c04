/* The intrinsics of AVX-512, for kernel files alone.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_AVX512_ISA_H
#define LANEBLOOM_AVX512_ISA_H

#include <immintrin.h>

#endif
