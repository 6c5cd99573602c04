/* A record passes this answer if its key is exactly one of the keys in memory.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_EXACT_H
#define LANEBLOOM_CLI_EXACT_H

#include "answer.h"
#include "key_set.h"

struct exact {
  struct key_set keys;

  /* private */
  unsigned separators; /* bit i is set if the first records all contain separator i of exact.c */
};

/* Reads the keys by key_set_read() and returns the answer. */
struct answer exact_answer(struct exact *exact, const char *path,
                           const struct record_syntax *syntax,
                           const struct input_messages *messages);

#endif
