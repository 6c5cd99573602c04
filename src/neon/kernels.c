/* The table of the NEON kernels.
 * SPDX-License-Identifier: MIT */
#include "../lanes/lanes.h"

#if defined(__aarch64__)
#define SUFFIX ""
#else
#define SUFFIX "(simde)"
#endif

/* Every CPU can run these kernels, because NEON is part of AArch64. These kernels were never
 * measured on a CPU. Their score is above the score of the scalar kernels, because in most cases
 * they take fewer instructions per key (docs/lab-notes.md). */
static unsigned neon_score(void)
{
  return 20;
}

const struct kernel_table lanebloom_kernels_neon = {
    SCALAR_KERNELS,
    .name = "neon" SUFFIX,
    .score = neon_score,
    .hash[HASH_BLOOMHASH] = KERNEL(bloomhash_hash),
    .hash[HASH_BLOOMHASH_SIGNED] = KERNEL(bloomhash_signed_hash),
    .hash[HASH_XXPH3] = KERNEL(xxph3_hash),
    .layout[LAYOUT_LEVELDB] = {KERNEL(leveldb_probe), KERNEL(leveldb_add), positions_nbytes, NULL},
    .layout[LAYOUT_ROCKSDB_LEGACY] = {KERNEL(rocksdb_legacy_probe), KERNEL(rocksdb_legacy_add),
                                      NULL, NULL},
    .layout[LAYOUT_ROCKSDB_LOCAL] = {KERNEL(rocksdb_local_probe), KERNEL(rocksdb_local_add), NULL,
                                     NULL},
    .layout[LAYOUT_PARQUET] = {KERNEL(parquet_probe), KERNEL(parquet_add), NULL, NULL},
    .layout[LAYOUT_HUDI].probe = KERNEL(hudi_probe),
};
