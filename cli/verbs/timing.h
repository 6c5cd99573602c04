/* Measures how long each kernel takes on this CPU, with one thread and keys of 8 bytes.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_TIMING_H
#define LANEBLOOM_CLI_TIMING_H

#include <stdbool.h>
#include <stddef.h>

#include <lanebloom.h>

/* The size of the filters that are queried. */
enum { TIMING_NKEYS = 200000, TIMING_BITS_PER_KEY = 10 };

/* The times that kernels take to screen keys by a filter of one format. The keys are all absent
 * from the filter, or all present in it. */
struct timing {
  lanebloom_format format;
  bool present;
  double *ns; /* nanoseconds per key for each kernel, in the order of lanebloom_kernel_at() */
  double least_ns;
};

/* Times every kernel with every format whose filters can be built. This takes about a second.
 * Returns the number of timings. Afterwards the same kernel is in use as before. */
size_t time_kernels(struct timing **timings);
void timings_destroy(struct timing *timings, size_t n);

/* Is this kernel the fastest, or so close to it that the difference may be noise? */
bool is_fastest(const struct timing *timing, size_t kernel);

#endif
