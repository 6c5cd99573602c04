/* The NEON kernels.
 * SPDX-License-Identifier: MIT */
#include "isa.h"
#include "neon.h"

static unsigned neon_score(void)
{
  return isa_usable() ? 20 : 0;
}

const struct kernel_table lanebloom_kernels_neon = {
    .name = "neon" ISA_SUFFIX,
    .score = neon_score,
    .ops =
        {
            [LANEBLOOM_LEVELDB] = &lanebloom_leveldb_neon,
            [LANEBLOOM_ROCKSDB_LEGACY] = &lanebloom_rocksdb_legacy_neon,
            [LANEBLOOM_ROCKSDB_LOCAL] = &lanebloom_rocksdb_local_neon,
            [LANEBLOOM_LEVELDB_SIGNED] = &lanebloom_leveldb_signed_neon,
        },
};
