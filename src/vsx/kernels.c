/* The VSX kernels. They were not measured on any CPU, so scalar is preferred by default.
 * SPDX-License-Identifier: MIT */
#include "../lanes/lanes.h"

/* VSX is part of every POWER8, the first CPU that ppc64le supports. */
static unsigned vsx_score(void)
{
  return 1;
}

const struct kernel_table lanebloom_kernels_vsx = {
    LANES_KERNELS,
    .name = "vsx",
    .score = vsx_score,
};
