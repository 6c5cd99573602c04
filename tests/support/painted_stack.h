/* Measures how much stack a function uses: it runs in a thread whose stack was filled with a
 * pattern, and bytes that still have the pattern were not used.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TEST_PAINTED_STACK_H
#define LANEBLOOM_TEST_PAINTED_STACK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
  MAX_STACK_NBYTES = 80 << 10, /* as the headers state; includes the few KiB of the thread itself */
  PAINTED_NBYTES = 1 << 20,
  PATTERN = 0xa5
};

#define CHECK(condition) ((condition) ? (void)0 : fail(#condition))

static _Noreturn void fail(const char *condition)
{
  printf("not ok - expected %s\n", condition);
  exit(EXIT_FAILURE);
}

/* Returns how many bytes of stack a thread needs to run this function. */
static size_t stack_of(void *(*run)(void *))
{
  uint8_t *stack =
      mmap(NULL, PAINTED_NBYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(stack != MAP_FAILED);
  memset(stack, PATTERN, PAINTED_NBYTES);
  pthread_attr_t attributes;
  pthread_t thread;
  CHECK(pthread_attr_init(&attributes) == 0);
  CHECK(pthread_attr_setstack(&attributes, stack, PAINTED_NBYTES) == 0);
  CHECK(pthread_create(&thread, &attributes, run, NULL) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  pthread_attr_destroy(&attributes);
  size_t nunused = 0;
  while (stack[nunused] == PATTERN)
    nunused++;
  munmap(stack, PAINTED_NBYTES);
  return PAINTED_NBYTES - nunused;
}

/* Prints the result of a test: whether the function uses no more stack than the headers state. */
static void check_stack(const char *what, void *(*run)(void *))
{
  const size_t nbytes = stack_of(run);
  const bool fits = nbytes <= MAX_STACK_NBYTES;
  printf("%s - %s: %zu bytes of stack\n", fits ? "ok" : "not ok", what, nbytes);
  if (!fits)
    exit(EXIT_FAILURE);
}

#endif
