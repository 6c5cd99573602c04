/* What the avx2 folder's files offer its kernel table.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_AVX2_H
#define LANEBLOOM_AVX2_H

#include "../kernels.h"

hash_function lanebloom_bloomhash_hash_avx2, lanebloom_bloomhash_signed_hash_avx2;
hash_function lanebloom_xxph3_hash_avx2, lanebloom_xxh64_hash_avx2;

probe_function lanebloom_leveldb_probe_avx2, lanebloom_rocksdb_local_probe_avx2;
/* The same two by loads instead of gathers. */
probe_function lanebloom_leveldb_probe_avx2_loads, lanebloom_rocksdb_local_probe_avx2_loads;
probe_function lanebloom_rocksdb_legacy_probe_avx2, lanebloom_rocksdb_ribbon_probe_avx2;
probe_function lanebloom_parquet_probe_avx2;

add_function lanebloom_leveldb_add_avx2;
add_function lanebloom_rocksdb_legacy_add_avx2, lanebloom_rocksdb_local_add_avx2;
add_function lanebloom_parquet_add_avx2;

#endif
