/* What the avx512 folder's files offer its kernel table.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_AVX512_H
#define LANEBLOOM_AVX512_H

#include "../kernels.h"

hash_function lanebloom_bloomhash_hash_avx512, lanebloom_bloomhash_signed_hash_avx512;
hash_function lanebloom_xxph3_hash_avx512, lanebloom_xxh64_hash_avx512;

probe_function lanebloom_leveldb_probe_avx512;
probe_function lanebloom_leveldb_probe_avx512_loads; /* instead of gathers */
probe_function lanebloom_rocksdb_legacy_probe_avx512, lanebloom_rocksdb_local_probe_avx512;
probe_function lanebloom_rocksdb_ribbon_probe_avx512;
probe_function lanebloom_parquet_probe_avx512;

add_function lanebloom_leveldb_add_avx512;
add_function lanebloom_rocksdb_legacy_add_avx512, lanebloom_rocksdb_local_add_avx512;
add_function lanebloom_parquet_add_avx512;

#endif
