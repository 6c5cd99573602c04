/* Shared by the tests of Parquet files: frozen files and their answers, and keys.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TESTS_PARQUET_H
#define LANEBLOOM_TESTS_PARQUET_H

#include <criterion/criterion.h>
#include <lanebloom_parquet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { PROBLEM_NBYTES = 300, MAX_NQUERIES = 256, MAX_NGROUPS = 4, BITMAP_NBYTES = 32 };

/* A column of a frozen file, and the keys that each row group has or may have. answers.txt has
 * these. */
struct frozen_column {
  char file[100], path[200];
  lanebloom_encoding encoding;
  size_t n, ngroups;
  lanebloom_slice keys[MAX_NQUERIES];
  uint8_t bytes[MAX_NQUERIES * 64];
  uint8_t has[MAX_NGROUPS][BITMAP_NBYTES], may_have[MAX_NGROUPS][BITMAP_NBYTES];
};

/* Calls `visit` with each column and with `context`. Returns the number of columns. */
size_t visit_frozen(void (*visit)(const struct frozen_column *column, void *context),
                    void *context);

/* Returns the bytes of a frozen file. For free(). */
uint8_t *frozen_bytes(const char *name, size_t *nbytes);

void frozen_path(const char *name, char path[512]);

/* Makes keys for the file's first column. */
lanebloom_parquet_keys *prepare(const lanebloom_parquet *file, const lanebloom_keys *keys);

static inline bool has_bit(const uint8_t *bitmap, size_t i)
{
  return bitmap[i / 8] >> i % 8 & 1;
}

#endif
