/* Reads the clock.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_CLOCK_H
#define LANEBLOOM_CLI_CLOCK_H

/* Returns the time of a monotonic clock, in seconds. */
double seconds(void);

#endif
