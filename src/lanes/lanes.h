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
hash_function KERNEL(fnv1_hash), KERNEL(fnv1_signed_hash);
hash_function KERNEL(murmur3_128_hash), KERNEL(murmur3_128_signed_hash);

/* The kernels named "by_gathers" use gathers if the filter fits into the caches. All other kernels
 * use ordinary loads. */
probe_function KERNEL(leveldb_probe), KERNEL(leveldb_probe_by_gathers);
probe_function KERNEL(rocksdb_local_probe), KERNEL(rocksdb_local_probe_by_gathers);
probe_function KERNEL(rocksdb_legacy_probe), KERNEL(rocksdb_ribbon_probe), KERNEL(parquet_probe);
probe_function KERNEL(pebble_binaryfuse_probe), KERNEL(hudi_probe);
probe_function KERNEL(remainders_probe);

add_function KERNEL(leveldb_add), KERNEL(rocksdb_legacy_add), KERNEL(rocksdb_local_add);
add_function KERNEL(parquet_add), KERNEL(remainders_add);

/* Initialises the table of an instruction set that has all kernels of lanes/. */
#define LANES_KERNELS                                                                              \
  SCALAR_KERNELS,                                                                                  \
      .hash[HASH_BLOOMHASH] = KERNEL(bloomhash_hash),                                              \
      .hash[HASH_BLOOMHASH_SIGNED] = KERNEL(bloomhash_signed_hash),                                \
      .hash[HASH_XXPH3] = KERNEL(xxph3_hash), .hash[HASH_XXH64] = KERNEL(xxh64_hash),              \
      .hash[HASH_MURMUR3_128] = KERNEL(murmur3_128_hash),                                          \
      .hash[HASH_MURMUR3_128_SIGNED] = KERNEL(murmur3_128_signed_hash),                            \
      .layout[LAYOUT_LEVELDB] = {KERNEL(leveldb_probe), KERNEL(leveldb_add), positions_nbytes,     \
                                 NULL},                                                            \
      .layout[LAYOUT_ROCKSDB_LEGACY] = {KERNEL(rocksdb_legacy_probe), KERNEL(rocksdb_legacy_add),  \
                                        NULL, NULL},                                               \
      .layout[LAYOUT_ROCKSDB_LOCAL] = {KERNEL(rocksdb_local_probe), KERNEL(rocksdb_local_add),     \
                                       hashes_nbytes, NULL},                                       \
      .layout[LAYOUT_ROCKSDB_RIBBON].probe = KERNEL(rocksdb_ribbon_probe),                         \
      .layout[LAYOUT_PEBBLE_BINARYFUSE].probe = KERNEL(pebble_binaryfuse_probe),                   \
      .layout[LAYOUT_DCSO] = {KERNEL(remainders_probe), KERNEL(remainders_add), NULL, NULL},       \
      .layout[LAYOUT_DOUBLE_HASHING] = {KERNEL(remainders_probe), KERNEL(remainders_add), NULL,    \
                                        NULL},                                                     \
      .layout[LAYOUT_HUDI].probe = KERNEL(hudi_probe),                                             \
      .layout[LAYOUT_PARQUET] = {KERNEL(parquet_probe), KERNEL(parquet_add), hashes_nbytes, NULL}

#endif
