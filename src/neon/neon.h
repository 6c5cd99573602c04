/* What the neon folder's files offer its kernel table.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_NEON_H
#define LANEBLOOM_NEON_H

#include "../kernels.h"

hash_function lanebloom_bloomhash_hash_neon, lanebloom_bloomhash_signed_hash_neon;
hash_function lanebloom_xxph3_hash_neon;

probe_function lanebloom_leveldb_probe_neon;
probe_function lanebloom_rocksdb_legacy_probe_neon, lanebloom_rocksdb_local_probe_neon;
probe_function lanebloom_parquet_probe_neon;

add_function lanebloom_leveldb_add_neon;
add_function lanebloom_rocksdb_legacy_add_neon, lanebloom_rocksdb_local_add_neon;
add_function lanebloom_parquet_add_neon;

#endif
