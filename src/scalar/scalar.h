/* The scalar functions, for tables and kernels that have nothing better.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_SCALAR_H
#define LANEBLOOM_SCALAR_H

#include "../kernels.h"

hash_function lanebloom_bloomhash_hash_scalar, lanebloom_bloomhash_signed_hash_scalar;
hash_function lanebloom_xxph3_hash_scalar;

probe_function lanebloom_leveldb_probe_scalar;
probe_function lanebloom_rocksdb_legacy_probe_scalar, lanebloom_rocksdb_local_probe_scalar;

add_function lanebloom_leveldb_add_scalar;
add_function lanebloom_rocksdb_legacy_add_scalar, lanebloom_rocksdb_local_add_scalar;

#endif
