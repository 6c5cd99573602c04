/* The NEON kernels.
 * SPDX-License-Identifier: MIT */
#include "../lanes/partitions.h"
#include "../scalar/scalar.h"
#include "isa.h"
#include "neon.h"

static unsigned neon_score(void)
{
  return isa_usable() ? 20 : 0;
}

const struct kernel_table lanebloom_kernels_neon = {
    .name = "neon" ISA_SUFFIX,
    .score = neon_score,
    .hash =
        {
            [HASH_BLOOMHASH] = lanebloom_bloomhash_hash_neon,
            [HASH_BLOOMHASH_SIGNED] = lanebloom_bloomhash_signed_hash_neon,
            [HASH_XXPH3] = lanebloom_xxph3_hash_neon,
            [HASH_XXH64] = lanebloom_xxh64_hash_scalar,
            [HASH_SPARK_MURMUR3] = lanebloom_spark_murmur3_hash_scalar,
        },
    .layout =
        {
            [LAYOUT_LEVELDB] = {.probe = lanebloom_leveldb_probe_neon,
                                .add = lanebloom_leveldb_add_neon,
                                .scratch_nbytes = positions_nbytes},
            [LAYOUT_ROCKSDB_LEGACY] = {.probe = lanebloom_rocksdb_legacy_probe_neon,
                                       .add = lanebloom_rocksdb_legacy_add_neon},
            [LAYOUT_ROCKSDB_LOCAL] = {.probe = lanebloom_rocksdb_local_probe_neon,
                                      .add = lanebloom_rocksdb_local_add_neon},
            [LAYOUT_ROCKSDB_RIBBON] = {.probe = lanebloom_rocksdb_ribbon_probe_scalar},
            [LAYOUT_PARQUET] = {.probe = lanebloom_parquet_probe_neon,
                                .add = lanebloom_parquet_add_neon},
            [LAYOUT_SPARK_V1] = {.probe = lanebloom_spark_v1_probe_scalar,
                                 .add = lanebloom_spark_v1_add_scalar},
            [LAYOUT_SPARK_V2] = {.probe = lanebloom_spark_v2_probe_scalar,
                                 .add = lanebloom_spark_v2_add_scalar},
        },
};
