/* A record passes this answer if its key may be in any table of some databases.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_TABLES_H
#define LANEBLOOM_CLI_TABLES_H

#include <stddef.h>

#include "answer.h"
#include "database.h"

struct tables {
  struct database_options options;
  char **names; /* the names of databases and of table files; tables_add() adds one */
  size_t n;
  struct database database; /* tables_answer() opens it */

  /* private */
  struct sources sources;
};

/* Adds the name of a database or of a table file. The name is borrowed. */
void tables_add(struct tables *tables, char *name);

/* Opens all tables and returns the answer. If a table cannot be opened, prints a message and
 * exits. */
struct answer tables_answer(struct tables *tables);

#endif
