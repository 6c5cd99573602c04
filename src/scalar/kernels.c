/* The scalar kernels: plain C, the specification of all others.
 * SPDX-License-Identifier: MIT */
#include "scalar.h"

static unsigned scalar_score(void)
{
  return 1;
}

const struct kernel_table lanebloom_kernels_scalar = {
    .name = "scalar",
    .score = scalar_score,
    .ops =
        {
            [LANEBLOOM_LEVELDB] = &lanebloom_leveldb_scalar,
            [LANEBLOOM_ROCKSDB_LEGACY] = &lanebloom_rocksdb_legacy_scalar,
            [LANEBLOOM_ROCKSDB_LOCAL] = &lanebloom_rocksdb_local_scalar,
            [LANEBLOOM_LEVELDB_SIGNED] = &lanebloom_leveldb_signed_scalar,
        },
};
