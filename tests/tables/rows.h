/* Reads frozen files (../vectors/README.md) whose columns are NAME=VALUE.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TESTS_ROWS_H
#define LANEBLOOM_TESTS_ROWS_H

#include <stdio.h>

#include "support.h"

enum { ROWS_MAX_NCOLUMNS = 7 };

struct rows {
  FILE *file;
  char *line;
  size_t room, n;
  char *values[ROWS_MAX_NCOLUMNS]; /* of the current row */
};

struct rows rows_open(const char *name);

/* Reads the next row. Returns false at the end. A column without a name is its value. */
bool rows_next(struct rows *rows, size_t ncolumns);

void rows_close(struct rows *rows);

/* Decodes hex to bytes that end at an unmapped page. */
struct guarded rows_bytes(const char *hex);

#endif
