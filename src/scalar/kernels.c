/* Defines the table of the scalar kernels, which are plain C. They are the specification: the
 * kernels of all other instruction sets must give the same results.
 * SPDX-License-Identifier: MIT */
#include "scalar.h"

static unsigned scalar_score(void)
{
  return lanebloom_cpu_is_emulated() ? 100 : 2;
}

hash_key_function *const lanebloom_hash_key_scalar[HASH_END] = {
    [HASH_BLOOMHASH] = lanebloom_bloomhash_hash_key_scalar,
    [HASH_BLOOMHASH_SIGNED] = lanebloom_bloomhash_signed_hash_key_scalar,
    [HASH_XXPH3] = lanebloom_xxph3_hash_key_scalar,
    [HASH_XXH64] = lanebloom_xxh64_hash_key_scalar,
    [HASH_SPARK_MURMUR3] = lanebloom_spark_murmur3_hash_key_scalar,
};

may_match_function *const lanebloom_may_match_scalar[LAYOUT_END] = {
    [LAYOUT_LEVELDB] = lanebloom_leveldb_may_match_scalar,
    [LAYOUT_ROCKSDB_LEGACY] = lanebloom_rocksdb_legacy_may_match_scalar,
    [LAYOUT_ROCKSDB_LOCAL] = lanebloom_rocksdb_local_may_match_scalar,
    [LAYOUT_ROCKSDB_RIBBON] = lanebloom_rocksdb_ribbon_may_match_scalar,
    [LAYOUT_PARQUET] = lanebloom_parquet_may_match_scalar,
    [LAYOUT_SPARK_V1] = lanebloom_spark_v1_may_match_scalar,
    [LAYOUT_SPARK_V2] = lanebloom_spark_v2_may_match_scalar,
};

const struct kernel_table lanebloom_kernels_scalar = {
    SCALAR_KERNELS,
    .name = "scalar",
    .score = scalar_score,
};
