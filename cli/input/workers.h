/* Workers: threads that share the chunks of the inputs. Results come in the order of the inputs.
 *
 *   input token     take a chunk       one worker at a time, in a ring
 *   no token        read, work on it   all at once
 *   output token    deliver results    one worker at a time, in the same ring
 *
 * There is no queue: a worker that has read a chunk passes the input token on, and holds one chunk
 * at a time. A single worker is a ring without threads.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_WORKERS_H
#define LANEBLOOM_CLI_WORKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/progress.h"
#include "inputs.h"

struct job {
  struct inputs *inputs;
  size_t nworkers; /* the most; fewer run if there are fewer chunks or threads */
  enum progress progress;
  bool is_first_of_two; /* the inputs are read again, and missing keys are reported then */
  bool needs_all;       /* exit at the first input that cannot be read to its end */

  /* The functions may be NULL. worker: from 0 to nworkers - 1. The same worker calls work and
   * deliver for a chunk.
   *
   * work: all workers call it at the same time. It cuts the whole chunk, unless deliver() will then
   * exit. deliver: called by one worker at a time, in the order of the chunks, if the chunk has no
   * error. first: the number of the chunk's first record, from 1. deliver_header: called in the
   * same way for the header of the inputs, before the first record. */
  void *context;
  void (*work)(void *context, size_t worker, struct cutter *cutter, struct chunk *chunk);
  void (*deliver)(void *context, size_t worker, struct chunk *chunk, uint64_t first);
  void (*deliver_header)(void *context, const char *header, size_t nbytes);

  /* Results. Only the worker with the output token may use them. */
  uint64_t nrecords;           /* delivered */
  uint64_t nmissing;           /* delivered records without a key */
  uint64_t nread;              /* bytes read from files for these records */
  size_t nfailed;              /* inputs that could not be read to their end; a message was printed
                                * for each */
  const char *with_returns;    /* the first input whose first keys end in carriage returns, */
  const char *without_returns; /* and the first whose first keys do not; NULL: none */

  /* private */
  bool has_warned;            /* about NUL bytes */
  bool has_warned_of_returns; /* that only some keys end in carriage returns */
  uint64_t nlines;            /* in the chunk's input, before the chunk */
};

/* Processes all inputs. If memory runs out, or a record has a fault, prints a message and exits. At
 * the end, reports how many records had no key. */
void job_run(struct job *job);

/* Exits from within deliver(), without waiting for workers that wait for input. */
_Noreturn void job_exit(const struct job *job, int status);

#endif
