/* The table of the VSX kernels (POWER's vectors). These kernels were never measured on a CPU. So
 * they are used only if the user names them; the default is the scalar kernels.
 * SPDX-License-Identifier: MIT */
#include "../lanes/lanes.h"

/* Every CPU can run these kernels: VSX is part of POWER8, the first CPU that ppc64le supports. */
static unsigned vsx_score(void)
{
  return 1;
}

const struct kernel_table lanebloom_kernels_vsx = {
    LANES_KERNELS,
    .name = "vsx",
    .score = vsx_score,
};
