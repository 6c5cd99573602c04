/* Threads, and tokens that they pass to each other.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_THREADS_H
#define LANEBLOOM_CLI_THREADS_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>

/* Starts a thread with a stack of 512 KiB. false: no thread could be started. */
bool start_thread(pthread_t *thread, void *(*body)(void *), void *argument);

/* Has any thread been started, even one that has ended? */
bool has_started_threads(void);

void give(sem_t *token);

/* Waits for a token. Signals do not interrupt the wait. */
void take(sem_t *token);

/* The most workers that -j accepts. A worker takes 0.6 MiB. */
enum { WORKERS_MAX = 1024 };

/* Returns the number of CPUs that this process may use, from 1 to WORKERS_MAX. */
size_t default_nworkers(void);

/* Calls work(context, i) for every i below n, which is at most WORKERS_MAX, and returns when all
 * calls are done. Each call runs in a thread of its own, except call 0 and those for which no
 * thread can be started: the calling thread runs them one after the other. */
void run_in_threads(size_t n, void (*work)(void *context, size_t i), void *context);

#endif
