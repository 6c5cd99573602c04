/* Runs a ring of workers, which pass two tokens to each other. workers.h explains the tokens.
 * SPDX-License-Identifier: MIT */
#include "workers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/progress.h"
#include "../base/report.h"
#include "../system/threads.h"
#include "inputs.h"
#include "records.h"

struct worker {
  struct ring *ring;
  size_t index;
  pthread_t thread; /* not used for the first worker, which runs in the calling thread */
  struct tokens may_read, may_deliver; /* receive the input token and the output token */
  struct chunk chunk;
  struct cutter cutter;
};

struct ring {
  struct job *job;
  struct worker *workers;
  size_t nworkers; /* at most job->nworkers; only the worker with the input token may use either
                    * number */
};

void job_exit(const struct job *job, int status)
{
  progress_end(job->nrecords);
  leave(status);
}

/* Exits with a message if the cutter found a fault in the chunk. `nlines` is the number of lines of
 * the input before the chunk. */
static void check_fault(const struct job *job, const struct worker *self, uint64_t nlines)
{
  char text[200];
  const struct fault *fault = &self->cutter.fault;
  if (fault->kind == FAULT_NONE)
    return;
  describe_fault(&self->cutter, text, sizeof text);
  const bool are_lines = self->cutter.syntax.terminator == '\n' && !self->cutter.syntax.width;
  complain(self->chunk.name, "%s %" PRIu64 ": %s", are_lines ? "line" : "record",
           nlines + fault->line, text);
  job_exit(job, EXIT_TROUBLE);
}

/* Warns of suspicious bytes in the first records of an input, and notes whether their keys end in
 * carriage returns. */
static void look_at_first(struct job *job, const struct worker *self)
{
  const struct chunk *chunk = &self->chunk;
  const enum returns returns = self->cutter.returns;
  if (chunk->has_nuls && !job->has_warned && !job->is_first_of_two) {
    complain(chunk->name, NULS_TEXT);
    job->has_warned = true;
  }
  if (returns == RETURNS_SOME && !job->has_warned_of_returns && !job->is_first_of_two) {
    complain(chunk->name, SOME_RETURNS_TEXT);
    job->has_warned_of_returns = true;
  }
  if (returns == RETURNS_ALL && !job->with_returns)
    job->with_returns = chunk->name;
  if (returns == RETURNS_NONE && !job->without_returns)
    job->without_returns = chunk->name;
}

static void deliver(struct job *job, struct worker *self)
{
  const uint64_t first = job->nrecords + 1;
  struct chunk *chunk = &self->chunk;
  if (!inputs_continue(job->inputs, chunk))
    return;
  if (*chunk->error) {
    complain(chunk->name, "%s", chunk->error);
    job->nfailed++;
    if (job->needs_all || chunk->is_fatal)
      job_exit(job, EXIT_TROUBLE);
    return;
  }
  if (chunk->at_beginning)
    job->nlines = chunk->header_nlines;
  look_at_first(job, self);
  const uint64_t nlines = job->nlines;
  job->nrecords += self->cutter.nrecords;
  job->nread += chunk->nread;
  job->nmissing += self->cutter.nmissing;
  job->nlines += self->cutter.nlines;
  if (chunk->header && job->deliver_header)
    job->deliver_header(job->context, chunk->header, chunk->header_nbytes);
  if (job->deliver && chunk->nbytes > 0)
    job->deliver(job->context, self->index, chunk, first);
  output_flush();                 /* the next chunk may arrive much later */
  check_fault(job, self, nlines); /* the records before the fault come first: deliver() may exit
                                   * when it has enough of them */
  progress_report(job->nrecords, job->nread);
}

static void *run(void *worker);

static void release(struct worker *worker)
{
  tokens_destroy(&worker->may_read);
  tokens_destroy(&worker->may_deliver);
  chunk_destroy(&worker->chunk);
  cutter_end(&worker->cutter);
}

/* Adds a worker and starts its thread. The first worker needs no thread, because it runs in the
 * thread of the caller. Returns false if memory ran out or no thread could be started. */
static bool add_worker(struct ring *ring)
{
  struct worker *worker = &ring->workers[ring->nworkers];
  worker->ring = ring;
  worker->index = ring->nworkers;
  if (!chunk_create(&worker->chunk, ring->job->inputs->read_nbytes))
    return false;
  tokens_create(&worker->may_read, 0);
  tokens_create(&worker->may_deliver, 0);
  if (worker->index > 0 && !start_thread(&worker->thread, run, worker)) {
    release(worker);
    return false;
  }
  ring->nworkers++;
  return true;
}

/* Returns the worker that gets the tokens next. Adds a worker to the ring as long as there is more
 * to read, so that small inputs start no unnecessary threads. If no worker can be added, the ring
 * keeps its size from then on. */
static struct worker *successor(struct ring *ring, const struct worker *self, bool more)
{
  if (more && self->index + 1 == ring->nworkers && ring->nworkers < ring->job->nworkers &&
      !add_worker(ring))
    ring->job->nworkers = ring->nworkers;
  return &ring->workers[(self->index + 1) % ring->nworkers];
}

/* Runs a worker. When the inputs have ended, this worker still waits for the output token and
 * passes both tokens on. So every worker ends only after all previous chunks were delivered. */
static void *run(void *worker)
{
  struct worker *self = worker;
  struct job *job = self->ring->job;
  for (bool more = true; more;) {
    take(&self->may_read);
    more = inputs_next(job->inputs, &self->chunk);
    struct worker *next = successor(self->ring, self, more);
    cutter_begin(&self->cutter, &job->inputs->syntax, self->chunk.data, self->chunk.nbytes,
                 self->chunk.at_beginning && self->chunk.header_nlines == 0);
    give(&next->may_read);

    inputs_load(job->inputs, &self->chunk);
    if (job->work && self->chunk.nbytes > 0)
      job->work(job->context, self->index, &self->cutter, &self->chunk);

    take(&self->may_deliver);
    if (more)
      deliver(job, self);
    give(&next->may_deliver);
  }
  return NULL;
}

static void report_missing(const struct job *job)
{
  const struct field_syntax *fields = &job->inputs->syntax.fields;
  if (job->nmissing > 0 && !job->is_first_of_two)
    complain(NULL, "%" PRIu64 " of %" PRIu64 " records %s: %s (--missing)%s", job->nmissing,
             job->nrecords, missing_text(&job->inputs->syntax),
             fields->missing == MISSING_KEEP ? "kept" : "dropped",
             job->nmissing < job->nrecords ? ""
             : is_json(fields)     ? "; is -f right? Nested members are written as /user/name"
             : takes_bytes(fields) ? "; is -b right?"
                                   : "; is -f right?");
}

void job_run(struct job *job)
{
  struct ring ring = {.job = job, .workers = calloc(job->nworkers, sizeof *ring.workers)};
  if (!ring.workers || !add_worker(&ring))
    die(NULL, "%s", strerror(ENOMEM));
  progress_begin(job->progress, job->progress ? inputs_nbytes(job->inputs) : 0, "records");
  give(&ring.workers[0].may_read);
  give(&ring.workers[0].may_deliver);
  run(&ring.workers[0]);

  /* The last worker gives its tokens to the first one, so all must end before one is released. */
  for (size_t i = 1; i < ring.nworkers; i++)
    pthread_join(ring.workers[i].thread, NULL);
  for (size_t i = 0; i < ring.nworkers; i++)
    release(&ring.workers[i]);
  free(ring.workers);
  progress_end(job->nrecords);
  inputs_end(job->inputs);
  report_missing(job);
}
