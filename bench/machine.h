/* The description of machine and build that stands before the results.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_BENCH_MACHINE_H
#define LANEBLOOM_BENCH_MACHINE_H

#include <stddef.h>

/* Adds it to the results. */
void bench_describe(void);

/* Takes at most name_size bytes, the 0 included. */
void bench_cpu_name(char *name, size_t name_size);

#endif
