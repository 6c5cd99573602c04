/* Reads the clock.
 * SPDX-License-Identifier: MIT */
#include "clock.h"

#include <time.h>

double seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
