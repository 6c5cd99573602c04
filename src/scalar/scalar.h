/* The scalar functions, for tables and kernels that have nothing better.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_SCALAR_H
#define LANEBLOOM_SCALAR_H

#include "../kernels.h"

hash_function lanebloom_bloomhash_hash_scalar, lanebloom_bloomhash_signed_hash_scalar;
hash_function lanebloom_xxph3_hash_scalar;

probe_function lanebloom_leveldb_probe_scalar;
probe_function lanebloom_rocksdb_legacy_probe_scalar, lanebloom_rocksdb_local_probe_scalar;

/* Whether all probes of hash i find set bits: for a few keys, without a hash_source. */
typedef bool may_match_function(const struct filter_shape *shape, const uint8_t *payload,
                                const void *hashes, size_t i);
may_match_function lanebloom_leveldb_may_match_scalar;
may_match_function lanebloom_rocksdb_legacy_may_match_scalar;
may_match_function lanebloom_rocksdb_local_may_match_scalar;
extern may_match_function *const lanebloom_may_match_scalar[LAYOUT_END];

add_function lanebloom_leveldb_add_scalar;
add_function lanebloom_rocksdb_legacy_add_scalar, lanebloom_rocksdb_local_add_scalar;

#endif
