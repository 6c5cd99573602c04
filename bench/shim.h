/* google/benchmark for C: a row is a function that loops while bench_next() says so.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_BENCH_SHIM_H
#define LANEBLOOM_BENCH_SHIM_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A row while it runs. Its function is called several times: to find how many keys fill the minimum
 * time, and once per repetition. Only what happens between the first bench_next() and the one that
 * returns false is timed. */
struct bench;
typedef void bench_function(struct bench *bench, void *argument);

/* Adds a row. Its function gets a copy of the argument, the same one each time. */
void bench_register(bench_function *function, const void *argument, size_t argument_nbytes,
                    const char *name, ...) __attribute__((format(printf, 4, 5)));

/* Adds a row for each number of threads: 1, 2, 4, ..., up to the number of CPUs, at least 2.
 * google/benchmark adds "real_time/threads:N" to its name. Each thread calls the function: one
 * after another up to the first bench_next(), and all at once from then on. Rates are those of all
 * threads together; the time is the real time divided by the keys of all threads. */
void bench_register_threads(bench_function *function, const void *argument, size_t argument_nbytes,
                            const char *name, ...) __attribute__((format(printf, 4, 5)));

/* Adds a row that measures real time, because other processes do its work. */
void bench_register_real(bench_function *function, const void *argument, size_t argument_nbytes,
                         const char *name, ...) __attribute__((format(printf, 4, 5)));

/* If it returns true, process nkeys more keys. A key is an iteration of google/benchmark, so that
 * times are per key. */
bool bench_next(struct bench *bench, size_t nkeys);

/* Gives the row a bandwidth, too. Call it after the loop. */
void bench_bytes(struct bench *bench, double nbytes_per_key);

/* Adds a remark to the row's label. */
void bench_note(struct bench *bench, const char *note);

/* Makes the row an error. Call it instead of the loop. */
void bench_skip(struct bench *bench, const char *why);

/* Pretends to use what `memory` points to, so that the compiler cannot leave out the code that
 * wrote it. */
void bench_keep(const void *memory);

/* Adds a line to the results' description of machine and build. */
void bench_context(const char *name, const char *value);

/* Runs the rows that google/benchmark's options select. Returns the exit status. */
int bench_main(int argc, char **argv);

/* A whole run. It reports its progress on standard error, and at the end the rows that are
 * unsure. */
struct bench_plan {
  const char *const *parts; /* regular expressions of rows, up to a NULL: one part after another,
                             * the rows of each in random order */
  unsigned nrepetitions;    /* repetitions of each row in each round */
  double seconds;           /* the least time of a repetition */
  int max_nrounds;          /* of a part: the first is of all rows, each further one of those that
                             * are unsure by then */
  double max_seconds;       /* further rounds should end by then */
  void (*release)(void);    /* called after each part */
  const char *output;       /* a file for google/benchmark's JSON: of each row its best, its median
                             * and its upper quartile */
};
int bench_run(const struct bench_plan *plan);

#ifdef __cplusplus
}
#endif

#endif
