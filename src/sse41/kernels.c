/* The table of the SSE4.1 kernels, for CPUs without AVX2. All functions that are not listed here
 * are inherited from the scalar kernels, because SSE4.1 would not be faster. For example, scalar
 * code hashes a key of 8 bytes by XXPH3 in 1.1 ns, and SSE4.1 with two lanes would take 1.6 ns per
 * key.
 * SPDX-License-Identifier: MIT */
#include "../lanes/lanes.h"
#include "../system/cpu_x86.h"

/* SSSE3 is checked because it provides the byte shuffle. Every CPU with SSE4.1 has SSSE3, but a
 * virtual machine may be configured so that CPUID does not report it. */
static unsigned sse41_score(void)
{
  return cpu_has_sse41() ? 10 : 0;
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
    .layout[LAYOUT_HUDI].probe = KERNEL(hudi_probe),
};
