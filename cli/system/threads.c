/* Starts threads, and passes tokens between them. The same on every system.
 * SPDX-License-Identifier: MIT */
#include "threads.h"

#include <stdatomic.h>

#include "process.h"

static atomic_bool has_started;

/* The size of a thread's stack. Threads need less than this. Each thread reserves its whole stack.
 * If the address space is limited, threads with the default stack of 8 MiB may fail to start. */
static const size_t STACK_NBYTES = (size_t)512 << 10;

bool start_thread(pthread_t *thread, void *(*body)(void *), void *argument)
{
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0)
    return false;
  pthread_attr_setstacksize(&attributes, STACK_NBYTES);
  const bool started = pthread_create(thread, &attributes, body, argument) == 0;
  pthread_attr_destroy(&attributes);
  if (started)
    has_started = true;
  return started;
}

bool has_started_threads(void)
{
  return has_started;
}

void tokens_create(struct tokens *tokens, size_t n)
{
  pthread_mutex_init(&tokens->lock, NULL);
  pthread_cond_init(&tokens->given, NULL);
  tokens->n = n;
}

void tokens_destroy(struct tokens *tokens)
{
  pthread_cond_destroy(&tokens->given);
  pthread_mutex_destroy(&tokens->lock);
}

void give(struct tokens *tokens)
{
  pthread_mutex_lock(&tokens->lock);
  tokens->n++;
  pthread_cond_signal(&tokens->given);
  pthread_mutex_unlock(&tokens->lock);
}

void take(struct tokens *tokens)
{
  pthread_mutex_lock(&tokens->lock);
  while (tokens->n == 0)
    pthread_cond_wait(&tokens->given, &tokens->lock);
  tokens->n--;
  pthread_mutex_unlock(&tokens->lock);
}

size_t default_nworkers(void)
{
  const long n = count_cpus();
  return n < 1 ? 1 : n > WORKERS_MAX ? WORKERS_MAX : (size_t)n;
}

/* ---- Many calls ---- */

struct call {
  void (*work)(void *context, size_t i);
  void *context;
  size_t i;
  pthread_t thread;
  bool started;
};

static void *run_call(void *argument)
{
  const struct call *call = argument;
  call->work(call->context, call->i);
  return NULL;
}

void run_in_threads(size_t n, void (*work)(void *context, size_t i), void *context)
{
  static struct call calls[WORKERS_MAX]; /* n is at most WORKERS_MAX */
  for (size_t i = n; i-- > 0;) {
    calls[i] = (struct call){.work = work, .context = context, .i = i};
    calls[i].started = i > 0 && start_thread(&calls[i].thread, run_call, &calls[i]);
    if (!calls[i].started)
      run_call(&calls[i]);
  }
  for (size_t i = 0; i < n; i++)
    if (calls[i].started)
      pthread_join(calls[i].thread, NULL);
}
