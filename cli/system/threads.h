/* Threads, and tokens that they pass to each other. Threads are those of POSIX on every system: on
 * Windows, winpthreads has them, which belongs to mingw-w64. A token is a unit of a pool: give()
 * adds one, and take() waits for one. Semaphores of POSIX are not used, because macOS lacks those
 * without a name.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_THREADS_H
#define LANEBLOOM_CLI_THREADS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Starts a thread with a stack of 512 KiB. Returns false if no thread can be started. */
bool start_thread(pthread_t *thread, void *(*body)(void *), void *argument);

/* Has any thread been started? A thread that has ended counts, too. */
bool has_started_threads(void);

struct tokens {
  pthread_mutex_t lock;
  pthread_cond_t given;
  size_t n;
};

/* Makes a pool of n tokens. */
void tokens_create(struct tokens *tokens, size_t n);
void tokens_destroy(struct tokens *tokens);

void give(struct tokens *tokens);

/* Waits for a token and takes it. */
void take(struct tokens *tokens);

/* The largest number of workers that -j accepts. A worker needs 0.6 MiB of memory, or with the
 * options of screens_whole_chunks() several times MAX_READ_NBYTES, because chunks are larger and
 * the keys of a chunk are copied. */
enum { WORKERS_MAX = 1024 };

/* Returns the number of CPUs that this process may use, from 1 to WORKERS_MAX. */
size_t default_nworkers(void);

/* Calls work(context, i) for every i below n, and returns when all calls have returned. n is at
 * most WORKERS_MAX. The calling thread runs call 0, and each other call runs in a thread of its
 * own. If no thread can be started for a call, the calling thread runs that call, too. */
void run_in_threads(size_t n, void (*work)(void *context, size_t i), void *context);

#endif
