/* Runs workers, which are threads that share the chunks of the inputs. Results are delivered in the
 * order of the inputs. The workers form a ring and pass two tokens around it; only the worker that
 * has the right token may take some of the steps:
 *
 *   input token     take a chunk       one worker at a time, in a ring
 *   no token        read, work on it   all at once
 *   output token    deliver results    one worker at a time, in the same ring
 *
 * There is no queue: each worker holds one chunk, and passes the input token on as soon as it has
 * taken the chunk. A single worker is a ring without threads.
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
  size_t nworkers; /* the most workers; fewer run if there are fewer chunks, or if threads cannot be
                    * started */
  enum progress progress;
  bool is_first_of_two; /* the inputs will be read a second time, and the second reading will report
                         * missing keys */
  bool needs_all;       /* the command must exit at the first input that cannot be read to its
                         * end */

  /* Each of these functions may be NULL. `worker` is a number from 0 to nworkers - 1. For each
   * chunk, the same worker calls work() and then deliver().
   *
   * Several workers call work() at the same time. work() must cut the whole chunk, unless deliver()
   * exits after this chunk. Only one worker at a time calls deliver(), in the order of the chunks,
   * and only for chunks without an error. `first` is the number of the first record of the chunk,
   * from 1. deliver_header() is called in the same way with the header of the inputs, before the
   * first record. */
  void *context;
  void (*work)(void *context, size_t worker, struct cutter *cutter, struct chunk *chunk);
  void (*deliver)(void *context, size_t worker, struct chunk *chunk, uint64_t first);
  void (*deliver_header)(void *context, const char *header, size_t nbytes);

  /* Results. Only the worker that has the output token may use them. */
  uint64_t nrecords;           /* the number of delivered records */
  uint64_t nmissing;           /* the number of delivered records that have no key */
  uint64_t nread;              /* the bytes that were read from files for these records */
  size_t nfailed;              /* the number of inputs that could not be read to their end; a
                                * message was printed for each */
  const char *with_returns;    /* the first input whose first keys all end in carriage returns;
                                * NULL: none */
  const char *without_returns; /* the first input whose first keys all lack a carriage return; NULL:
                                * none */

  /* private */
  bool has_warned;            /* the warning about NUL bytes was printed */
  bool has_warned_of_returns; /* the warning was printed that only some of the first keys end in
                               * carriage returns */
  uint64_t nlines;            /* the number of lines of the chunk's input before the chunk */
};

/* Processes all inputs. At the end, reports how many records had no key. If memory runs out, or if
 * a record has a fault, prints a message and exits. */
void job_run(struct job *job);

/* Ends the command. Call this in deliver(). It does not wait for workers that wait for input. */
_Noreturn void job_exit(const struct job *job, int status);

#endif
