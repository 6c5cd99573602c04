/* The AVX2 kernels: by gathers, and by loads for CPUs where gathers are slow.
 * SPDX-License-Identifier: MIT */
#include "../lanes/partitions.h"
#include "../scalar/scalar.h"
#include "avx2.h"
#include "isa.h"

static unsigned avx2_score(void)
{
  return !isa_usable() ? 0 : lanebloom_cpu_gathers_fast() ? 21 : 19;
}

static unsigned avx2_loads_score(void)
{
  return isa_usable() ? 20 : 0;
}

/* What both tables have. */
#define AVX2_HASHES                                                                                \
  {                                                                                                \
    [HASH_BLOOMHASH] = lanebloom_bloomhash_hash_avx2,                                              \
    [HASH_BLOOMHASH_SIGNED] = lanebloom_bloomhash_signed_hash_avx2,                                \
    [HASH_XXPH3] = lanebloom_xxph3_hash_avx2, [HASH_XXH64] = lanebloom_xxh64_hash_avx2,            \
    [HASH_SPARK_MURMUR3] = lanebloom_spark_murmur3_hash_scalar,                                    \
  }
#define AVX2_LAYOUTS(leveldb_probe, rocksdb_local_probe)                                           \
  {                                                                                                \
    [LAYOUT_LEVELDB] = {.probe = (leveldb_probe),                                                  \
                        .add = lanebloom_leveldb_add_avx2,                                         \
                        .scratch_nbytes = positions_nbytes},                                       \
    [LAYOUT_ROCKSDB_LEGACY] = {.probe = lanebloom_rocksdb_legacy_probe_avx2,                       \
                               .add = lanebloom_rocksdb_legacy_add_avx2},                          \
    [LAYOUT_ROCKSDB_LOCAL] = {.probe = (rocksdb_local_probe),                                      \
                              .add = lanebloom_rocksdb_local_add_avx2,                             \
                              .scratch_nbytes = hashes_nbytes},                                    \
    [LAYOUT_ROCKSDB_RIBBON] = {.probe = lanebloom_rocksdb_ribbon_probe_avx2},                      \
    [LAYOUT_PARQUET] = {.probe = lanebloom_parquet_probe_avx2,                                     \
                        .add = lanebloom_parquet_add_avx2,                                         \
                        .scratch_nbytes = hashes_nbytes},                                          \
    [LAYOUT_SPARK_V1] = {.probe = lanebloom_spark_v1_probe_scalar,                                 \
                         .add = lanebloom_spark_v1_add_scalar},                                    \
    [LAYOUT_SPARK_V2] = {.probe = lanebloom_spark_v2_probe_scalar,                                 \
                         .add = lanebloom_spark_v2_add_scalar},                                    \
  }

const struct kernel_table lanebloom_kernels_avx2 = {
    .name = "avx2" ISA_SUFFIX,
    .score = avx2_score,
    .hash = AVX2_HASHES,
    .layout = AVX2_LAYOUTS(lanebloom_leveldb_probe_avx2, lanebloom_rocksdb_local_probe_avx2),
};

const struct kernel_table lanebloom_kernels_avx2_loads = {
    .name = "avx2-loads" ISA_SUFFIX,
    .score = avx2_loads_score,
    .hash = AVX2_HASHES,
    .layout =
        AVX2_LAYOUTS(lanebloom_leveldb_probe_avx2_loads, lanebloom_rocksdb_local_probe_avx2_loads),
};
