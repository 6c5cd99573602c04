/* The VSX kernels. No CPU was measured with them, so scalar is the default before them.
 * SPDX-License-Identifier: MIT */
#include "../lanes/lanes.h"

/* It is part of every POWER8, the first CPU that ppc64le has. */
static unsigned vsx_score(void)
{
  return 1;
}

const struct kernel_table lanebloom_kernels_vsx = {
    LANES_KERNELS,
    .name = "vsx",
    .score = vsx_score,
};
