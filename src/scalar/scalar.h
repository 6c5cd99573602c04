/* Declares the scalar functions. If an instruction set has no faster function, its kernel table
 * lists the scalar one. Other kernels call scalar functions for a few keys.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_SCALAR_H
#define LANEBLOOM_SCALAR_H

#include "../kernels.h"

hash_function lanebloom_bloomhash_hash_scalar, lanebloom_bloomhash_signed_hash_scalar;
hash_function lanebloom_xxph3_hash_scalar, lanebloom_xxh64_hash_scalar;
hash_function lanebloom_spark_murmur3_hash_scalar, lanebloom_xxh3_hash_scalar;
hash_function lanebloom_fnv1_hash_scalar, lanebloom_fnv1_signed_hash_scalar;
hash_function lanebloom_murmur3_128_hash_scalar, lanebloom_murmur3_128_signed_hash_scalar;

probe_function lanebloom_leveldb_probe_scalar;
probe_function lanebloom_rocksdb_legacy_probe_scalar, lanebloom_rocksdb_local_probe_scalar;
probe_function lanebloom_rocksdb_ribbon_probe_scalar, lanebloom_parquet_probe_scalar;
probe_function lanebloom_pebble_binaryfuse_probe_scalar;
probe_function lanebloom_dcso_probe_scalar, lanebloom_hudi_probe_scalar;
probe_function lanebloom_double_hashing_probe_scalar;

/* Functions for single keys. A hash_key_function returns the hash of a key. */
typedef struct key_hash hash_key_function(const uint8_t *key, size_t size);
hash_key_function lanebloom_bloomhash_hash_key_scalar, lanebloom_bloomhash_signed_hash_key_scalar;
hash_key_function lanebloom_xxph3_hash_key_scalar, lanebloom_xxh64_hash_key_scalar;
hash_key_function lanebloom_spark_murmur3_hash_key_scalar, lanebloom_xxh3_hash_key_scalar;
hash_key_function lanebloom_fnv1_hash_key_scalar, lanebloom_fnv1_signed_hash_key_scalar;
hash_key_function lanebloom_murmur3_128_hash_key_scalar;
hash_key_function lanebloom_murmur3_128_signed_hash_key_scalar;
may_match_function lanebloom_leveldb_may_match_scalar;
may_match_function lanebloom_rocksdb_legacy_may_match_scalar;
may_match_function lanebloom_rocksdb_local_may_match_scalar;
may_match_function lanebloom_rocksdb_ribbon_may_match_scalar;
may_match_function lanebloom_parquet_may_match_scalar;
may_match_function lanebloom_pebble_binaryfuse_may_match_scalar;
may_match_function lanebloom_dcso_may_match_scalar;
may_match_function lanebloom_double_hashing_may_match_scalar;
extern hash_key_function *const lanebloom_hash_key_scalar[HASH_END];

/* Tests a single key of Hudi's format, which has no hash. */
bool lanebloom_hudi_may_match_scalar(const struct filter_shape *shape, const uint8_t *payload,
                                     lanebloom_slice key);

add_function lanebloom_leveldb_add_scalar;
add_function lanebloom_rocksdb_legacy_add_scalar, lanebloom_rocksdb_local_add_scalar;
add_function lanebloom_parquet_add_scalar;
add_function lanebloom_dcso_add_scalar, lanebloom_double_hashing_add_scalar;

/* Initialisers of a kernel table with all scalar functions. A table lists these first, and its own
 * faster functions after them. */
#define SCALAR_KERNELS                                                                             \
  .hash = {[HASH_BLOOMHASH] = lanebloom_bloomhash_hash_scalar,                                     \
           [HASH_BLOOMHASH_SIGNED] = lanebloom_bloomhash_signed_hash_scalar,                       \
           [HASH_XXPH3] = lanebloom_xxph3_hash_scalar,                                             \
           [HASH_XXH64] = lanebloom_xxh64_hash_scalar,                                             \
           [HASH_SPARK_MURMUR3] = lanebloom_spark_murmur3_hash_scalar,                             \
           [HASH_XXH3] = lanebloom_xxh3_hash_scalar,                                               \
           [HASH_FNV1] = lanebloom_fnv1_hash_scalar,                                               \
           [HASH_FNV1_SIGNED] = lanebloom_fnv1_signed_hash_scalar,                                 \
           [HASH_MURMUR3_128] = lanebloom_murmur3_128_hash_scalar,                                 \
           [HASH_MURMUR3_128_SIGNED] = lanebloom_murmur3_128_signed_hash_scalar},                  \
  .layout =                                                                                        \
      {                                                                                            \
          [LAYOUT_LEVELDB] = {lanebloom_leveldb_probe_scalar, lanebloom_leveldb_add_scalar, NULL,  \
                              NULL},                                                               \
          [LAYOUT_ROCKSDB_LEGACY] = {lanebloom_rocksdb_legacy_probe_scalar,                        \
                                     lanebloom_rocksdb_legacy_add_scalar, NULL, NULL},             \
          [LAYOUT_ROCKSDB_LOCAL] = {lanebloom_rocksdb_local_probe_scalar,                          \
                                    lanebloom_rocksdb_local_add_scalar, NULL, NULL},               \
          [LAYOUT_ROCKSDB_RIBBON] = {lanebloom_rocksdb_ribbon_probe_scalar, NULL, NULL, NULL},     \
          [LAYOUT_PARQUET] = {lanebloom_parquet_probe_scalar, lanebloom_parquet_add_scalar, NULL,  \
                              NULL},                                                               \
          [LAYOUT_PEBBLE_BINARYFUSE] = {lanebloom_pebble_binaryfuse_probe_scalar, NULL, NULL,      \
                                        NULL},                                                     \
          [LAYOUT_DCSO] = {lanebloom_dcso_probe_scalar, lanebloom_dcso_add_scalar, NULL, NULL},    \
          [LAYOUT_DOUBLE_HASHING] = {lanebloom_double_hashing_probe_scalar,                        \
                                     lanebloom_double_hashing_add_scalar, NULL, NULL},             \
          [LAYOUT_HUDI] = {lanebloom_hudi_probe_scalar, NULL, NULL, NULL},                         \
  },                                                                                               \
  .may_match = {[LAYOUT_LEVELDB] = lanebloom_leveldb_may_match_scalar,                             \
                [LAYOUT_ROCKSDB_LEGACY] = lanebloom_rocksdb_legacy_may_match_scalar,               \
                [LAYOUT_ROCKSDB_LOCAL] = lanebloom_rocksdb_local_may_match_scalar,                 \
                [LAYOUT_ROCKSDB_RIBBON] = lanebloom_rocksdb_ribbon_may_match_scalar,               \
                [LAYOUT_PARQUET] = lanebloom_parquet_may_match_scalar,                             \
                [LAYOUT_PEBBLE_BINARYFUSE] = lanebloom_pebble_binaryfuse_may_match_scalar,         \
                [LAYOUT_DCSO] = lanebloom_dcso_may_match_scalar,                                   \
                [LAYOUT_DOUBLE_HASHING] = lanebloom_double_hashing_may_match_scalar}

#endif
