/* Answers of the real LevelDB and RocksDB, frozen in files (../vectors/README.md) and in tables
 * here. Every kernel is checked against them. They fix what the scalar kernels compute, so that all
 * kernels cannot drift together.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TESTS_FROZEN_H
#define LANEBLOOM_TESTS_FROZEN_H

#include <criterion/criterion.h>
#include <lanebloom.h>
#include <stdio.h>
#include <stdlib.h>

#include "support.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

void for_each_kernel(void (*check)(const char *kernel));

/* ---- Reading the files ---- */

struct rows {
  const char *name;
  FILE *file;
  char *line;
  size_t room, number;
};

struct rows rows_open(const char *name);

/* Reads the columns of the next row, which are valid until the next call. Returns false at
 * the end. */
bool rows_next(struct rows *rows, const char *kernel, char *columns[], size_t ncolumns);

void rows_close(struct rows *rows);

/* A list of keys in hex, separated by commas; "-" is the empty key, and "." means no keys. */
struct key_list {
  lanebloom_slice *slices;
  size_t n;
  uint8_t *bytes;
};

struct key_list parse_keys(char *text);
void free_keys(struct key_list *list);

#endif
