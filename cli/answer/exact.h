/* Keys in memory as an answer: a record passes if its key is one of them.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_EXACT_H
#define LANEBLOOM_CLI_EXACT_H

#include "answer.h"
#include "key_set.h"

struct exact {
  struct key_set keys;

  /* private */
  unsigned separators; /* bit i: the first records have separator i of exact.c */
};

/* Reads the keys as key_set_read() does. */
struct answer exact_answer(struct exact *exact, const char *path,
                           const struct record_syntax *syntax,
                           const struct input_messages *messages);

#endif
