/* The SSE4.1 kernels, for CPUs without AVX2. If a function is not listed, scalar is as fast: XXPH3
 * of 8 bytes takes 1.1 ns there, in two lanes 1.6.
 * SPDX-License-Identifier: MIT */
#include "../lanes/lanes.h"

/* SSSE3 provides the byte shuffle. A CPU with SSE4.1 has it as well, but CPUID can be configured to
 * say otherwise. */
static unsigned sse41_score(void)
{
  const bool is_usable = __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("sse4.1") &&
                         __builtin_cpu_supports("popcnt");
  return is_usable ? 10 : 0;
}

const struct kernel_table lanebloom_kernels_sse41 = {
    SCALAR_KERNELS,
    .name = "sse41",
    .score = sse41_score,
    .hash[HASH_BLOOMHASH] = KERNEL(bloomhash_hash),
    .hash[HASH_BLOOMHASH_SIGNED] = KERNEL(bloomhash_signed_hash),
    .layout[LAYOUT_LEVELDB].probe = KERNEL(leveldb_probe),
    .layout[LAYOUT_ROCKSDB_LEGACY].probe = KERNEL(rocksdb_legacy_probe),
    .layout[LAYOUT_ROCKSDB_LOCAL].probe = KERNEL(rocksdb_local_probe),
};
