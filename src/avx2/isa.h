/* The intrinsics of AVX2, for kernel files alone.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_AVX2_ISA_H
#define LANEBLOOM_AVX2_ISA_H

#include <immintrin.h>

#endif
