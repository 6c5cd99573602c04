/* Reads frozen files (see rows.h).
 * SPDX-License-Identifier: MIT */
#include "rows.h"

#include <criterion/criterion.h>
#include <string.h>

struct rows rows_open(const char *name)
{
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", LANEBLOOM_TEST_VECTORS, name);
  struct rows rows = {.file = fopen(path, "r")};
  cr_assert(rows.file, "cannot open %s", path);
  return rows;
}

bool rows_next(struct rows *rows, size_t ncolumns)
{
  do
    if (getline(&rows->line, &rows->room, rows->file) < 0)
      return false;
  while (rows->line[0] == '#');
  test_context("row %zu", ++rows->n);
  char *rest = rows->line;
  for (size_t i = 0; i < ncolumns; i++) {
    char *column = strtok_r(rest, " \n", &rest);
    cr_assert(column, "column %zu is missing", i);
    char *equals = strchr(column, '=');
    rows->values[i] = equals ? equals + 1 : column;
  }
  return true;
}

void rows_close(struct rows *rows)
{
  fclose(rows->file);
  free(rows->line);
}

struct guarded rows_bytes(const char *hex)
{
  struct guarded bytes = guarded_make(strlen(hex) / 2, AT_END);
  cr_assert(hex_decode(hex, bytes.bytes, bytes.nbytes) == bytes.nbytes);
  return bytes;
}
