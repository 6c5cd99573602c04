/* Functions that the tests of frozen answers share.
 * SPDX-License-Identifier: MIT */
#include "frozen.h"

#include <limits.h>
#include <string.h>

void for_each_kernel(void (*check)(const char *kernel))
{
  for (size_t i = 0; i < lanebloom_kernel_count(); i++) {
    const char *kernel = lanebloom_kernel_at(i);
    cr_assert(kernel, "kernel %zu has no name", i);
    cr_assert(lanebloom_kernel_use(kernel) == LANEBLOOM_OK, "kernel %s cannot be used", kernel);
    check(kernel);
  }
}

struct rows rows_open(const char *name)
{
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", LANEBLOOM_TEST_VECTORS, name);
  struct rows rows = {.name = name, .file = fopen(path, "r")};
  if (!rows.file)
    test_fatal("cannot open %s", path);
  return rows;
}

bool rows_next(struct rows *rows, const char *kernel, char *columns[], size_t ncolumns)
{
  do {
    if (getline(&rows->line, &rows->room, rows->file) < 0)
      return false;
    rows->number++;
  } while (rows->line[0] == '#');
  test_context("%s, %s line %zu", kernel, rows->name, rows->number);
  char *rest = rows->line;
  for (size_t i = 0; i < ncolumns; i++)
    if (!(columns[i] = strtok_r(rest, " \n", &rest)))
      test_fatal("fewer than %zu columns", ncolumns);
  return true;
}

void rows_close(struct rows *rows)
{
  fclose(rows->file);
  free(rows->line);
}

struct key_list parse_keys(char *text)
{
  const size_t length = strlen(text);
  struct key_list list = {.slices = test_alloc((length + 1) * sizeof *list.slices),
                          .bytes = test_alloc(length)};
  if (strcmp(text, ".") == 0)
    return list;
  uint8_t *at = list.bytes;
  for (char *key; (key = strtok_r(text, ",", &text)); list.n++) {
    const size_t size = hex_decode(key, at, length);
    list.slices[list.n] = (lanebloom_slice){at, size};
    at += size;
  }
  return list;
}

void free_keys(struct key_list *list)
{
  free(list->slices);
  free(list->bytes);
}
