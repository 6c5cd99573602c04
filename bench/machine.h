/* The description of the machine and the build that precedes the results.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_BENCH_MACHINE_H
#define LANEBLOOM_BENCH_MACHINE_H

#include <stddef.h>

/* Adds the description to the results. */
void bench_describe(void);

/* Writes the CPU's name: at most name_size bytes, including the 0. */
void bench_cpu_name(char *name, size_t name_size);

#endif
