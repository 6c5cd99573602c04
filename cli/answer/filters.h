/* A record passes this answer if its key may be in any of several filters.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_ANSWER_FILTERS_H
#define LANEBLOOM_CLI_ANSWER_FILTERS_H

#include <stdbool.h>
#include <stddef.h>

#include "../files/filters.h"
#include "answer.h"

struct filters {
  struct filter_source source; /* how the files of the filters are read */
  char *list;                  /* a file with more names of filters, one in each line; NULL: none */
  char **paths;
  size_t n;

  /* private */
  void *known;  /* all paths, as a tree of tsearch() */
  char **names; /* the names that were read from the list */
  size_t nnames;
  struct sources sources;
};

/* Adds the path of a filter. The path is borrowed. Returns false if it was added before. */
bool filters_add(struct filters *filters, char *path);

/* Adds the filters whose names are in the list, one in each line. On failure prints a message and
 * exits. */
void filters_read_list(struct filters *filters);

/* Loads all filters and returns the answer. Sets the form of keys in `syntax` to the form that the
 * filters record. If filters cannot be read, prints a message for each of them and then exits. */
struct answer filters_answer(struct filters *filters, struct record_syntax *syntax);

#endif
