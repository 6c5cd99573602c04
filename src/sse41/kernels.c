/* The SSE4.1 kernels, for CPUs without AVX2. What is not here is no faster than scalar.
 * SPDX-License-Identifier: MIT */
#include "../scalar/scalar.h"
#include "isa.h"
#include "sse41.h"

static unsigned sse41_score(void)
{
  return isa_usable() ? 10 : 0;
}

const struct kernel_table lanebloom_kernels_sse41 = {
    .name = "sse41",
    .score = sse41_score,
    .hash =
        {
            [HASH_BLOOMHASH] = lanebloom_bloomhash_hash_sse41,
            [HASH_BLOOMHASH_SIGNED] = lanebloom_bloomhash_signed_hash_sse41,
            [HASH_XXPH3] = lanebloom_xxph3_hash_scalar, /* 8 bytes: 1.1 ns, in two lanes 1.6 */
            [HASH_XXH64] = lanebloom_xxh64_hash_scalar,
            [HASH_SPARK_MURMUR3] = lanebloom_spark_murmur3_hash_scalar,
        },
    .layout =
        {
            [LAYOUT_LEVELDB] = {.probe = lanebloom_leveldb_probe_sse41,
                                .add = lanebloom_leveldb_add_scalar},
            [LAYOUT_ROCKSDB_LEGACY] = {.probe = lanebloom_rocksdb_legacy_probe_sse41,
                                       .add = lanebloom_rocksdb_legacy_add_scalar},
            [LAYOUT_ROCKSDB_LOCAL] = {.probe = lanebloom_rocksdb_local_probe_sse41,
                                      .add = lanebloom_rocksdb_local_add_scalar},
            [LAYOUT_ROCKSDB_RIBBON] = {.probe = lanebloom_rocksdb_ribbon_probe_scalar},
            [LAYOUT_PARQUET] = {.probe = lanebloom_parquet_probe_scalar,
                                .add = lanebloom_parquet_add_scalar},
            [LAYOUT_SPARK_V1] = {.probe = lanebloom_spark_v1_probe_scalar,
                                 .add = lanebloom_spark_v1_add_scalar},
            [LAYOUT_SPARK_V2] = {.probe = lanebloom_spark_v2_probe_scalar,
                                 .add = lanebloom_spark_v2_add_scalar},
        },
};
