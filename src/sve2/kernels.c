/* The table of the SVE2 kernels. These kernels were never measured on a CPU. So they are used only
 * if the user names them; by default, other kernels are used.
 * SPDX-License-Identifier: MIT */
#include "../lanes/lanes.h"
#include "../system/system.h"

static unsigned sve2_score(void)
{
  enum { HWCAP2_SVE2 = 1 << 1 }; /* of Linux, asm/hwcap.h */
  return lanebloom_system_cpu_bits(2) & HWCAP2_SVE2 ? 1 : 0;
}

const struct kernel_table lanebloom_kernels_sve2 = {
    SCALAR_KERNELS,
    .name = "sve2",
    .score = sve2_score,
    .layout[LAYOUT_LEVELDB].probe = KERNEL(leveldb_probe),
    .layout[LAYOUT_ROCKSDB_LOCAL].probe = KERNEL(rocksdb_local_probe),
};
