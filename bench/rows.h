/* The benchmarks of the suite, one file each: every function registers its rows. For main.c.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_BENCH_ROWS_H
#define LANEBLOOM_BENCH_ROWS_H

void bench_register_hash(void);
void bench_register_screen(void);
void bench_register_build(void);
void bench_register_many(void);
void bench_register_load(void);
void bench_register_floor(void);
void bench_register_libbloom(void); /* where it is installed */
void bench_register_command(void);  /* where the command is built */

/* As which the program is the command itself. */
#define BENCH_COMMAND_NAME "lanebloom"
int bench_command_main(int argc, char **argv);

#endif
