/* Declares the benchmarks of the suite. A row is one measured case, such as one kernel with one
 * filter. Each function registers the rows of the file of the same name; main.c calls all
 * functions.
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

/* If the program is started under this name, it is the command `lanebloom` itself. So the benchmark
 * of the command needs no other file. */
#define BENCH_COMMAND_NAME "lanebloom"
int bench_command_main(int argc, char **argv);

#endif
