/* What the neon folder's files share: its hash functions, which several formats use.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_NEON_H
#define LANEBLOOM_NEON_H

#include "../kernels.h"

/* hashes: keys->n of uint32_t. */
void lanebloom_bloomhash_hash_neon(const lanebloom_keys *keys, void *hashes);
void lanebloom_bloomhash_signed_hash_neon(const lanebloom_keys *keys, void *hashes);

/* hashes: keys->n of uint64_t. */
void lanebloom_xxph3_hash_neon(const lanebloom_keys *keys, void *hashes);

extern const struct kernel_ops lanebloom_leveldb_neon, lanebloom_leveldb_signed_neon;
extern const struct kernel_ops lanebloom_rocksdb_legacy_neon, lanebloom_rocksdb_local_neon;

#endif
