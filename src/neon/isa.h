/* NEON: its intrinsics, and whether they are to be had. Off AArch64, where only tests build these
 * kernels, by SIMDe.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_NEON_ISA_H
#define LANEBLOOM_NEON_ISA_H

#include <stdbool.h>

#if defined(__aarch64__)
#include <arm_neon.h>
#define ISA_SUFFIX ""
#else
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/arm/neon.h>
#define ISA_SUFFIX "(simde)"
#endif

/* It is part of AArch64. */
static inline bool isa_usable(void)
{
  return true;
}

#endif
