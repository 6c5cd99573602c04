/* The table of the RVV kernels (RISC-V's vectors). These kernels were never measured on a CPU. So
 * they are used only if the user names them; the default is the scalar kernels.
 * SPDX-License-Identifier: MIT */
#include "../lanes/lanes.h"
#include "../system/system.h"

static unsigned rvv_score(void)
{
  return lanebloom_system_cpu_bits(1) >> ('v' - 'a') & 1 ? 1 : 0;
}

const struct kernel_table lanebloom_kernels_rvv = {
    SCALAR_KERNELS,
    .name = "rvv",
    .score = rvv_score,
    .layout[LAYOUT_LEVELDB].probe = KERNEL(leveldb_probe),
    .layout[LAYOUT_ROCKSDB_LOCAL].probe = KERNEL(rocksdb_local_probe),
};
