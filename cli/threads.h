/* Threads, and tokens that they pass to each other.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_THREADS_H
#define LANEBLOOM_CLI_THREADS_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>

/* Starts a thread with a stack of 512 KiB. false: no thread could be started. */
bool start_thread(pthread_t *thread, void *(*body)(void *), void *argument);

/* Has any thread been started, even one that has ended? */
bool has_started_threads(void);

void give(sem_t *token);

/* Waits for a token. Signals do not interrupt the wait. */
void take(sem_t *token);

#endif
