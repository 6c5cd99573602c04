/* Makes google/benchmark, a C++ library, usable from C. A row (one benchmark) is a function with a
 * loop that goes on while bench_next() returns true.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_BENCH_SHIM_H
#define LANEBLOOM_BENCH_SHIM_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A row while it runs. The row's function is called several times: first to find how many keys fill
 * the minimum time, then once for each repetition. Only the time between the first call of
 * bench_next() and the call that returns false is measured. */
struct bench;
typedef void bench_function(struct bench *bench, void *argument);

/* Adds a row. The argument is copied once. Each call of the row's function gets this copy, and can
 * store results in it. */
void bench_register(bench_function *function, const void *argument, size_t argument_nbytes,
                    const char *name, ...) __attribute__((format(printf, 4, 5)));

/* Adds a row for each number of threads: 1, 2, 4, ..., up to the number of CPUs, but at least 2.
 * google/benchmark adds "real_time/threads:N" to the name of each row. Each thread calls the
 * function. Up to the first bench_next(), the threads run one after another; from then on they run
 * at the same time. The rate of a row counts the keys of all threads together, and its time is the
 * real time divided by the number of these keys. */
void bench_register_threads(bench_function *function, const void *argument, size_t argument_nbytes,
                            const char *name, ...) __attribute__((format(printf, 4, 5)));

/* Adds a row that measures real time, because other processes do its work. */
void bench_register_real(bench_function *function, const void *argument, size_t argument_nbytes,
                         const char *name, ...) __attribute__((format(printf, 4, 5)));

/* Returns true if the row must process nkeys more keys, and false if its loop must end. For
 * google/benchmark, each key is an iteration, so that times are per key. */
bool bench_next(struct bench *bench, size_t nkeys);

/* Adds a bandwidth to the row's results. Call it after the loop. */
void bench_bytes(struct bench *bench, double nbytes_per_key);

/* Adds a remark to the row's label. */
void bench_note(struct bench *bench, const char *note);

/* Reports the row as an error. Call it instead of the loop. */
void bench_skip(struct bench *bench, const char *why);

/* Pretends to use the bytes at `memory`, so that the compiler cannot leave out the code that wrote
 * them. */
void bench_keep(const void *memory);

/* Adds a line to the description of the machine and the build in the results. */
void bench_context(const char *name, const char *value);

/* Runs the rows that google/benchmark's options select. Returns the exit status. */
int bench_main(int argc, char **argv);

/* The plan of a whole run. A run has rounds. Each round after the first measures only the rows that
 * are still unsure, that is, whose repetitions differ too much. The run reports its progress on
 * standard error and, at the end, the rows that stayed unsure. */
struct bench_plan {
  const char *const *parts; /* regular expressions of rows, then NULL. Each expression is a part
                             * of the run; the rows of a part are measured in random order */
  unsigned nrepetitions;    /* repetitions of each row in each round */
  double seconds;           /* the minimum time of a repetition */
  int max_nrounds;          /* the most rounds of a part. The first round measures all rows, and the
                             * others measure the rows that are still unsure */
  double max_seconds;       /* the time after which no further round should run */
  void (*release)(void);    /* called after each part */
  const char *output;       /* a file for google/benchmark's JSON, which has the best, the median
                             * and the upper quartile of each row */
};
int bench_run(const struct bench_plan *plan);

#ifdef __cplusplus
}
#endif

#endif
