/* The AVX2 kernels: by gathers, and by loads for CPUs where gathers are slow.
 * SPDX-License-Identifier: MIT */
#include "avx2.h"
#include "isa.h"

static unsigned avx2_score(void)
{
  return isa_usable() ? 20 : 0;
}

static unsigned avx2_loads_score(void)
{
  return !isa_usable() ? 0 : isa_gathers_slowly() ? 21 : 19;
}

const struct kernel_table lanebloom_kernels_avx2 = {
    .name = "avx2" ISA_SUFFIX,
    .score = avx2_score,
    .ops =
        {
            [LANEBLOOM_LEVELDB] = &lanebloom_leveldb_avx2,
            [LANEBLOOM_ROCKSDB_LEGACY] = &lanebloom_rocksdb_legacy_avx2,
            [LANEBLOOM_ROCKSDB_LOCAL] = &lanebloom_rocksdb_local_avx2,
            [LANEBLOOM_LEVELDB_SIGNED] = &lanebloom_leveldb_signed_avx2,
        },
};

const struct kernel_table lanebloom_kernels_avx2_loads = {
    .name = "avx2-loads" ISA_SUFFIX,
    .score = avx2_loads_score,
    .ops =
        {
            [LANEBLOOM_LEVELDB] = &lanebloom_leveldb_avx2_loads,
            [LANEBLOOM_ROCKSDB_LEGACY] = &lanebloom_rocksdb_legacy_avx2, /* which gather nothing */
            [LANEBLOOM_ROCKSDB_LOCAL] = &lanebloom_rocksdb_local_avx2,
            [LANEBLOOM_LEVELDB_SIGNED] = &lanebloom_leveldb_signed_avx2_loads,
        },
};
