/* What the scalar folder's files share: its hash functions, which several formats use.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_SCALAR_H
#define LANEBLOOM_SCALAR_H

#include "../kernels.h"

/* hashes: keys->n of uint32_t. */
void lanebloom_bloomhash_hash_scalar(const lanebloom_keys *keys, void *hashes);
void lanebloom_bloomhash_signed_hash_scalar(const lanebloom_keys *keys, void *hashes);

/* hashes: keys->n of uint64_t. */
void lanebloom_xxph3_hash_scalar(const lanebloom_keys *keys, void *hashes);

extern const struct kernel_ops lanebloom_leveldb_scalar, lanebloom_leveldb_signed_scalar;
extern const struct kernel_ops lanebloom_rocksdb_legacy_scalar, lanebloom_rocksdb_local_scalar;

#endif
