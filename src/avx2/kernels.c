/* The tables of the AVX2 kernels. The table "avx2" uses gathers; the table "avx2-loads" uses
 * ordinary loads, for CPUs on which gathers are slow.
 * SPDX-License-Identifier: MIT */
#include "../x86/kernels.h"

#if defined(__x86_64__)
#include "../system/cpu_x86.h"
#define SUFFIX ""

/* Checks whether the CPU has all features that the compiler uses for these kernels.
 * tests/kernels/cpus.bats hides each of the features. */
static bool is_usable(void)
{
  return cpu_has_avx2();
}
#else
#define SUFFIX "(simde)"

static bool is_usable(void)
{
  return true;
}
#endif

static unsigned avx2_score(void)
{
  return !is_usable() ? 0 : lanebloom_cpu_gathers_fast() ? 21 : 19;
}

static unsigned avx2_loads_score(void)
{
  return is_usable() ? 20 : 0;
}

const struct kernel_table lanebloom_kernels_avx2_loads = {
    X86_KERNELS,
    .name = "avx2-loads" SUFFIX,
    .score = avx2_loads_score,
};

const struct kernel_table lanebloom_kernels_avx2 = {
    X86_KERNELS,
    .name = "avx2" SUFFIX,
    .score = avx2_score,
    .layout[LAYOUT_LEVELDB].probe = KERNEL(leveldb_probe_by_gathers),
    .layout[LAYOUT_ROCKSDB_LOCAL].probe = KERNEL(rocksdb_local_probe_by_gathers),
};
