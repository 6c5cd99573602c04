/* The tables of databases as an answer: a record passes if it may be in any of them.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_TABLES_H
#define LANEBLOOM_CLI_TABLES_H

#include <stddef.h>

#include "answer.h"
#include "database.h"

struct tables {
  struct database_options options;
  char **names; /* of databases and of table files */
  size_t n;
  struct database database; /* open after tables_answer() */

  /* private */
  struct sources sources;
};

/* Opens all tables. If one cannot be opened, prints a message and exits. */
struct answer tables_answer(struct tables *tables);

#endif
