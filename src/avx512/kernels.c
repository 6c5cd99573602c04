/* The tables of the AVX-512 kernels. The table "avx512" uses gathers; the table "avx512-loads" uses
 * ordinary loads, for CPUs on which gathers are slow.
 * SPDX-License-Identifier: MIT */
#include "../x86/kernels.h"
#include "../system/cpu_x86.h"

/* The scores are higher than AVX2's, because AVX-512 has twice as many lanes, and one instruction
 * moves the lanes of a mask together. Of all CPUs with AVX-512, only Xeon Phi lacks some of the
 * four parts of AVX-512 that the kernels need. */
static unsigned avx512_score(void)
{
  return !cpu_has_avx512() ? 0 : lanebloom_cpu_gathers_fast() ? 31 : 29;
}

static unsigned avx512_loads_score(void)
{
  return cpu_has_avx512() ? 30 : 0;
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
