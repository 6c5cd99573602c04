/* Declares the kernels that lanes/ and the files of an instruction set define. kernels.c of an
 * instruction set lists the kernels that the set has, and its table inherits all other functions
 * from the table of the scalar kernels:
 *
 *   const struct kernel_table lanebloom_kernels_neon = {
 *       SCALAR_KERNELS, .name = "neon", .score = neon_score,
 *       .hash[HASH_XXPH3] = KERNEL(xxph3_hash), ...
 *   };
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LANES_LANES_H
#define LANEBLOOM_LANES_LANES_H

#include "../scalar/scalar.h"
#include "partitions.h"
#include "vocabulary.h"

#pragma GCC diagnostic ignored "-Woverride-init" /* tables override inherited members */

hash_function KERNEL(bloomhash_hash), KERNEL(bloomhash_signed_hash);
hash_function KERNEL(xxph3_hash), KERNEL(xxh64_hash);

/* The kernels named "by_gathers" use gathers if the filter fits into the caches. All other kernels
 * use ordinary loads. */
probe_function KERNEL(leveldb_probe), KERNEL(leveldb_probe_by_gathers);
probe_function KERNEL(rocksdb_local_probe), KERNEL(rocksdb_local_probe_by_gathers);
probe_function KERNEL(rocksdb_legacy_probe), KERNEL(rocksdb_ribbon_probe), KERNEL(parquet_probe);

add_function KERNEL(leveldb_add), KERNEL(rocksdb_legacy_add), KERNEL(rocksdb_local_add);
add_function KERNEL(parquet_add);

/* Initialises the table of an instruction set that has all kernels of lanes/. */
#define LANES_KERNELS                                                                              \
  SCALAR_KERNELS,                                                                                  \
      .hash[HASH_BLOOMHASH] = KERNEL(bloomhash_hash),                                              \
      .hash[HASH_BLOOMHASH_SIGNED] = KERNEL(bloomhash_signed_hash),                                \
      .hash[HASH_XXPH3] = KERNEL(xxph3_hash), .hash[HASH_XXH64] = KERNEL(xxh64_hash),              \
      .layout[LAYOUT_LEVELDB] = {KERNEL(leveldb_probe), KERNEL(leveldb_add), positions_nbytes,     \
                                 NULL},                                                            \
      .layout[LAYOUT_ROCKSDB_LEGACY] = {KERNEL(rocksdb_legacy_probe), KERNEL(rocksdb_legacy_add),  \
                                        NULL, NULL},                                               \
      .layout[LAYOUT_ROCKSDB_LOCAL] = {KERNEL(rocksdb_local_probe), KERNEL(rocksdb_local_add),     \
                                       hashes_nbytes, NULL},                                       \
      .layout[LAYOUT_ROCKSDB_RIBBON].probe = KERNEL(rocksdb_ribbon_probe),                         \
      .layout[LAYOUT_PARQUET] = {KERNEL(parquet_probe), KERNEL(parquet_add), hashes_nbytes, NULL}

/* Kernels of AVX2 that the tables of AVX-512 have, too. The probes of a single key fill a vector of
 * 32 bytes. Sorted hashes are shuffled byte by byte, and many lines have fewer hashes than a vector
 * of 64 bytes; longer shuffles are not faster either: Zen 4 splits them, and Intel's CPUs run them
 * on one port instead of two. */
may_match_function KERNEL_OF(rocksdb_legacy_may_match, avx2);
may_match_function KERNEL_OF(rocksdb_local_may_match, avx2), KERNEL_OF(parquet_may_match, avx2);
sorted_probe_function KERNEL_OF(rocksdb_local_sorted_probe, avx2);
sorted_probe_function KERNEL_OF(parquet_sorted_probe, avx2);

/* Initialises the tables of AVX2 and AVX-512. */
#define X86_KERNELS                                                                                \
  LANES_KERNELS,                                                                                   \
      .may_match[LAYOUT_ROCKSDB_LEGACY] = KERNEL_OF(rocksdb_legacy_may_match, avx2),               \
      .may_match[LAYOUT_ROCKSDB_LOCAL] = KERNEL_OF(rocksdb_local_may_match, avx2),                 \
      .may_match[LAYOUT_PARQUET] = KERNEL_OF(parquet_may_match, avx2),                             \
      .layout[LAYOUT_ROCKSDB_LOCAL].sorted_probe = KERNEL_OF(rocksdb_local_sorted_probe, avx2),    \
      .layout[LAYOUT_PARQUET].sorted_probe = KERNEL_OF(parquet_sorted_probe, avx2)

#endif
