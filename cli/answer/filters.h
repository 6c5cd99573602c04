/* Filters as an answer: a record passes if it may be in any of them.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_ANSWER_FILTERS_H
#define LANEBLOOM_CLI_ANSWER_FILTERS_H

#include <stdbool.h>
#include <stddef.h>

#include "../files/filters.h"
#include "answer.h"

struct filters {
  struct filter_source source; /* how they are read */
  char *list;                  /* a file that lists more names; NULL: none */
  char **paths;
  size_t n;

  /* private */
  void *known;  /* the paths: a tree of tsearch() */
  char **names; /* of the list */
  size_t nnames;
  struct sources sources;
};

/* Adds the path of a filter. The path is borrowed. false: it was added before. */
bool filters_add(struct filters *filters, char *path);

/* Adds the filters that the list names, one per line. On failure prints a message and exits. */
void filters_read_list(struct filters *filters);

/* Loads all filters. `syntax' gets the form of their keys. Prints a message for each filter that
 * cannot be read, and then exits. */
struct answer filters_answer(struct filters *filters, struct record_syntax *syntax);

#endif
