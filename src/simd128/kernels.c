/* The table of the kernels for WebAssembly's SIMD128. All functions that are not listed here are
 * inherited from the scalar kernels.
 * SPDX-License-Identifier: MIT */
#include "../lanes/lanes.h"

/* If an engine lacks SIMD128, it refuses the whole module, so these kernels can always run. */
static unsigned simd128_score(void)
{
  return 10;
}

const struct kernel_table lanebloom_kernels_simd128 = {
    SCALAR_KERNELS,
    .name = "simd128",
    .score = simd128_score,
    .hash[HASH_BLOOMHASH] = KERNEL(bloomhash_hash),
    .hash[HASH_BLOOMHASH_SIGNED] = KERNEL(bloomhash_signed_hash),
    .layout[LAYOUT_LEVELDB].probe = KERNEL(leveldb_probe),
    .layout[LAYOUT_ROCKSDB_LEGACY].probe = KERNEL(rocksdb_legacy_probe),
    .layout[LAYOUT_ROCKSDB_LOCAL].probe = KERNEL(rocksdb_local_probe),
};
