/* Workers: threads that share the chunks of the inputs. Results come in the order of the inputs.
 *
 *   input token     read a chunk       one worker at a time, in a ring
 *   no token        work on it         all at once
 *   output token    deliver results    one worker at a time, in the same ring
 *
 * There is no queue: a worker that has read a chunk passes the input token on, and has one chunk at
 * a time. One worker is a ring without threads.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_WORKERS_H
#define LANEBLOOM_CLI_WORKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inputs.h"

/* The most workers that -j accepts. A worker takes 0.6 MiB. */
enum { WORKERS_MAX = 1024 };

/* The number of CPUs that this process may use, from 1 to WORKERS_MAX. */
size_t default_nworkers(void);

struct job {
  struct inputs *inputs;
  size_t nworkers; /* the most; fewer run if there are fewer chunks or threads */
  bool progress;   /* report the speed on standard error */
  bool needs_all;  /* exit at the first input that cannot be read to its end */

  /* Both functions may be NULL. worker: from 0 to nworkers - 1; one worker does both for a chunk.
   *
   * work: all workers at once. It cuts the whole chunk, unless deliver() then exits.
   * deliver: one worker at a time, in the order of chunks, if the chunk has no error. first: the
   * number of the chunk's first record, from 1. */
  void *context;
  void (*work)(void *context, size_t worker, struct cutter *cutter, struct chunk *chunk);
  void (*deliver)(void *context, size_t worker, struct chunk *chunk, uint64_t first);

  /* Results; only the worker with the output token may use them. */
  uint64_t nrecords; /* delivered */
  size_t nfailed;    /* inputs that could not be read to their end; each had a message */
};

/* Works on all inputs. If memory runs out, prints a message and exits. */
void job_run(struct job *job);

/* Calls work(context, i) for every i below n, each in a thread, and returns when all are done.
 * Those for which no thread can be started run in the caller's, one after the other. */
void run_in_threads(size_t n, void (*work)(void *context, size_t i), void *context);

/* Exits from within deliver(), without waiting for workers that wait for input. */
_Noreturn void job_exit(const struct job *job, int status);

#endif
