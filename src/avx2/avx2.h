/* What the avx2 folder's files share: its hash functions, which several formats use.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_AVX2_H
#define LANEBLOOM_AVX2_H

#include "../kernels.h"

/* hashes: keys->n of uint32_t. */
void lanebloom_bloomhash_hash_avx2(const lanebloom_keys *keys, void *hashes);
void lanebloom_bloomhash_signed_hash_avx2(const lanebloom_keys *keys, void *hashes);

/* hashes: keys->n of uint64_t. */
void lanebloom_xxph3_hash_avx2(const lanebloom_keys *keys, void *hashes);

extern const struct kernel_ops lanebloom_leveldb_avx2, lanebloom_leveldb_signed_avx2;
extern const struct kernel_ops lanebloom_rocksdb_legacy_avx2, lanebloom_rocksdb_local_avx2;

/* The same, but that probes are loaded one by one instead of gathered. RocksDB's formats have no
 * gathers. */
extern const struct kernel_ops lanebloom_leveldb_avx2_loads, lanebloom_leveldb_signed_avx2_loads;

#endif
