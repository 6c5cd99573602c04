/* Describes the machine and the build. The description comes before the results in their file.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_BENCH_MACHINE_H
#define LANEBLOOM_BENCH_MACHINE_H

#include <stddef.h>

/* Adds the description to the results. */
void bench_describe(void);

/* Writes the name of the CPU to `name`: at most name_size bytes, including the zero byte at the
 * end. */
void bench_cpu_name(char *name, size_t name_size);

#endif
