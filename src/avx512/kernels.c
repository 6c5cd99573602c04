/* The AVX-512 kernels: by gathers, and by loads for CPUs where gathers are slow.
 * SPDX-License-Identifier: MIT */
#include "../lanes/partitions.h"
#include "../scalar/scalar.h"
#include "avx512.h"

/* The compiler's library asks the CPU once, when the program starts, and counts AVX-512 only where
 * the operating system saves its registers. Of CPUs with AVX-512 only Xeon Phi lacks some of the
 * four features. Above AVX2: twice the lanes, and survivors compressed by one instruction. */
static bool is_usable(void)
{
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
         __builtin_cpu_supports("popcnt");
}

static unsigned avx512_score(void)
{
  return !is_usable() ? 0 : lanebloom_cpu_gathers_fast() ? 31 : 29;
}

static unsigned avx512_loads_score(void)
{
  return is_usable() ? 30 : 0;
}

/* What both tables have. */
#define AVX512_HASHES                                                                              \
  {                                                                                                \
    [HASH_BLOOMHASH] = lanebloom_bloomhash_hash_avx512,                                            \
    [HASH_BLOOMHASH_SIGNED] = lanebloom_bloomhash_signed_hash_avx512,                              \
    [HASH_XXPH3] = lanebloom_xxph3_hash_avx512, [HASH_XXH64] = lanebloom_xxh64_hash_avx512,        \
    [HASH_SPARK_MURMUR3] = lanebloom_spark_murmur3_hash_scalar,                                    \
  }
#define AVX512_LAYOUTS(leveldb_probe)                                                              \
  {                                                                                                \
    [LAYOUT_LEVELDB] = {.probe = (leveldb_probe),                                                  \
                        .add = lanebloom_leveldb_add_avx512,                                       \
                        .scratch_nbytes = positions_nbytes},                                       \
    [LAYOUT_ROCKSDB_LEGACY] = {.probe = lanebloom_rocksdb_legacy_probe_avx512,                     \
                               .add = lanebloom_rocksdb_legacy_add_avx512},                        \
    [LAYOUT_ROCKSDB_LOCAL] = {.probe = lanebloom_rocksdb_local_probe_avx512,                       \
                              .add = lanebloom_rocksdb_local_add_avx512,                           \
                              .scratch_nbytes = hashes_nbytes},                                    \
    [LAYOUT_ROCKSDB_RIBBON] = {.probe = lanebloom_rocksdb_ribbon_probe_avx512},                    \
    [LAYOUT_PARQUET] = {.probe = lanebloom_parquet_probe_avx512,                                   \
                        .add = lanebloom_parquet_add_avx512,                                       \
                        .scratch_nbytes = hashes_nbytes},                                          \
    [LAYOUT_SPARK_V1] = {.probe = lanebloom_spark_v1_probe_scalar,                                 \
                         .add = lanebloom_spark_v1_add_scalar},                                    \
    [LAYOUT_SPARK_V2] = {.probe = lanebloom_spark_v2_probe_scalar,                                 \
                         .add = lanebloom_spark_v2_add_scalar},                                    \
  }

const struct kernel_table lanebloom_kernels_avx512 = {
    .name = "avx512",
    .score = avx512_score,
    .hash = AVX512_HASHES,
    .layout = AVX512_LAYOUTS(lanebloom_leveldb_probe_avx512),
};

const struct kernel_table lanebloom_kernels_avx512_loads = {
    .name = "avx512-loads",
    .score = avx512_loads_score,
    .hash = AVX512_HASHES,
    .layout = AVX512_LAYOUTS(lanebloom_leveldb_probe_avx512_loads),
};
