/* Threads, and tokens that they pass to each other.
 * SPDX-License-Identifier: MIT */
#include "threads.h"

#include <stdatomic.h>
#include <stddef.h>

static atomic_bool has_started;

/* More than a thread needs. The default of 8 MiB would matter if address space is limited. */
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

void give(sem_t *token)
{
  sem_post(token);
}

void take(sem_t *token)
{
  while (sem_wait(token) < 0)
    ; /* interrupted by a signal */
}
