/* The questions of the suite, one file each: every function registers its rows.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_BENCH_ROWS_H
#define LANEBLOOM_BENCH_ROWS_H

void bench_register_hash(void);
void bench_register_screen(void);
void bench_register_build(void);
void bench_register_batch(void);
void bench_register_many(void);
void bench_register_load(void);
void bench_register_floor(void);
void bench_register_libbloom(void); /* where it is installed */

/* A copy that lives as long as the program, for a row's argument. */
void *bench_argument(const void *argument, unsigned long nbytes);

#endif
