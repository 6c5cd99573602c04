/* The tables of the AVX-512 kernels. The table "avx512" uses gathers; the table "avx512-loads" uses
 * ordinary loads, for CPUs on which gathers are slow.
 * SPDX-License-Identifier: MIT */
#include "../x86/kernels.h"

/* Checks whether the CPU has all features that the compiler uses for these kernels. The compiler's
 * library queries the CPU once, when the program starts, and reports AVX-512 only if the operating
 * system saves the registers of AVX-512. Of all CPUs with AVX-512, only Xeon Phi lacks some of the
 * four features that are checked.
 *
 * The scores below are higher than AVX2's, because AVX-512 has twice as many lanes, and one
 * instruction moves the lanes of a mask together. */
static bool is_usable(void)
{
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}

static unsigned avx512_score(void)
{
  return !is_usable() ? 0 : lanebloom_cpu_gathers_fast() ? 31 : 29;
}

static unsigned avx512_loads_score(void)
{
  return is_usable() ? 30 : 0;
}

const struct kernel_table lanebloom_kernels_avx512_loads = {
    X86_KERNELS,
    .name = "avx512-loads",
    .score = avx512_loads_score,
};

const struct kernel_table lanebloom_kernels_avx512 = {
    X86_KERNELS,
    .name = "avx512",
    .score = avx512_score,
    .layout[LAYOUT_LEVELDB].probe = KERNEL(leveldb_probe_by_gathers),
};
