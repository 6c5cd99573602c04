/* Planted faults. With them sanitizers.bats checks that this build's sanitizers report faults.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const char *planted(void)
{
  const char *fault = getenv("CANARY_FAULT");
  return fault ? fault : "";
}

static volatile int victim;

static void *increment(void *unused)
{
  (void)unused;
  for (int i = 0; i < 1000; i++)
    victim++;
  return NULL;
}

Test(canary, sings)
{
  if (strcmp(planted(), "leak") == 0) {
    void *volatile lost = malloc(12345);
    lost = NULL;
    (void)lost;
  } else if (strcmp(planted(), "overflow") == 0) {
    victim = INT_MAX;
    victim = victim + 1;
  } else if (strcmp(planted(), "out-of-bounds") == 0) {
    char *volatile bytes = malloc(16);
    victim = bytes[16];
    free(bytes);
  } else if (strcmp(planted(), "race") == 0) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
      pthread_create(&threads[i], NULL, increment, NULL);
    for (int i = 0; i < 2; i++)
      pthread_join(threads[i], NULL);
  }
}
