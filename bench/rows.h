/* The benchmarks of the suite, one file each. Each function registers the rows of its file; main.c
 * calls them.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_BENCH_ROWS_H
#define LANEBLOOM_BENCH_ROWS_H

void bench_register_hash(void);
void bench_register_screen(void);
void bench_register_build(void);
void bench_register_many(void);
void bench_register_load(void);
void bench_register_floor(void);
void bench_register_libbloom(void); /* if libbloom is installed */
void bench_register_command(void);  /* if the command is built */

/* Called by this name, the program is the command itself. */
#define BENCH_COMMAND_NAME "lanebloom"
int bench_command_main(int argc, char **argv);

#endif
