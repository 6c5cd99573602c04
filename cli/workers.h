/* Workers: threads that share the chunks of the inputs, with results in the order of the inputs.
 *
 *   input turn     read a chunk        one worker at a time, in a ring
 *                  work on it          all at once
 *   output turn    deliver results     one worker at a time, in the same ring
 *
 * Whoever has read hands the input turn on and so needs no queue: a worker holds one chunk, and
 * chunks in flight are as many as workers. One worker is the same ring, without a thread.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_WORKERS_H
#define LANEBLOOM_CLI_WORKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inputs.h"

/* More than machines have CPUs; a number above it is a slip. A worker takes 0.6 MiB. */
enum { WORKERS_MAX = 1024 };

/* As many as this process may use CPUs. */
size_t default_nworkers(void);

struct job {
  struct inputs *inputs;
  size_t nworkers; /* at most; as many as there are threads to be had, and chunks to be read */
  bool progress;
  bool needs_all; /* the first input that cannot be read ends the command, as lack of memory does */

  /* Both may be NULL. worker: from 0 to nworkers - 1, who worked on a chunk delivers it. */
  void *context;
  void (*work)(void *context, size_t worker, struct cutter *cutter,
               struct chunk *chunk); /* leaves it cut */
  void (*deliver)(void *context, size_t worker, struct chunk *chunk,
                  uint64_t first); /* number of its first record, from 1 */

  /* results, which belong to the output turn */
  uint64_t nrecords; /* delivered */
  size_t nfailed; /* inputs that could not be read to their end; each has been complained about */
};

void job_run(struct job *job);

/* Ends the command from within deliver(), without waiting for those who wait for input. */
_Noreturn void job_exit(const struct job *job, int status);

#endif
