/* Measures how long each kernel takes on this CPU: one thread, keys of 8 bytes.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_TIMING_H
#define LANEBLOOM_CLI_TIMING_H

#include <stdbool.h>
#include <stddef.h>

#include <lanebloom.h>

enum { TIMING_NKEYS = 200000, TIMING_BITS_PER_KEY = 10 }; /* of the filters that are queried */

/* The time to screen keys that are all absent, or all present, by a filter of one format. */
struct timing {
  lanebloom_format format;
  bool present;
  double *ns; /* per key, for each kernel in the order of lanebloom_kernel_name() */
  double least_ns;
};

/* Times every kernel with every format that can be built, for about a second. Returns the number of
 * timings. The kernel in use does not change. */
size_t time_kernels(struct timing **timings);
void timings_destroy(struct timing *timings, size_t n);

/* Is this kernel the fastest, or within the noise of the fastest? */
bool is_fastest(const struct timing *timing, size_t kernel);

#endif
