/* What the avx512 folder's files share: its hash functions, which several formats use.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_AVX512_H
#define LANEBLOOM_AVX512_H

#include "../kernels.h"

/* hashes: keys->n of uint32_t. */
void lanebloom_bloomhash_hash_avx512(const lanebloom_keys *keys, void *hashes);
void lanebloom_bloomhash_signed_hash_avx512(const lanebloom_keys *keys, void *hashes);

/* hashes: keys->n of uint64_t. */
void lanebloom_xxph3_hash_avx512(const lanebloom_keys *keys, void *hashes);

extern const struct kernel_ops lanebloom_leveldb_avx512, lanebloom_leveldb_signed_avx512;
extern const struct kernel_ops lanebloom_rocksdb_legacy_avx512, lanebloom_rocksdb_local_avx512;

#endif
