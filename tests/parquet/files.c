/* Reads the frozen files and their answers, and makes keys.
 * SPDX-License-Identifier: MIT */
#include "parquet.h"

void frozen_path(const char *name, char path[512])
{
  snprintf(path, 512, "%s/parquet/%s", LANEBLOOM_TEST_VECTORS, name);
}

uint8_t *frozen_bytes(const char *name, size_t *nbytes)
{
  char path[512];
  frozen_path(name, path);
  return test_read_file(path, nbytes);
}

static lanebloom_encoding encoding_by_name(const char *name)
{
  for (int i = 0; i <= LANEBLOOM_UUID; i++)
    if (strcmp(lanebloom_encoding_name((lanebloom_encoding)i), name) == 0)
      return (lanebloom_encoding)i;
  test_fatal("no encoding %s", name);
}

static void read_keys(char *list, struct frozen_column *column)
{
  size_t used = 0;
  column->n = 0;
  for (char *key = strtok(list, ","); key; key = strtok(NULL, ",")) {
    cr_assert(column->n < MAX_NQUERIES && used + 64 <= sizeof column->bytes);
    const size_t n = hex_decode(key, column->bytes + used, 64);
    column->keys[column->n++] = (lanebloom_slice){column->bytes + used, n};
    used += n;
  }
}

size_t visit_frozen(void (*visit)(const struct frozen_column *column, void *context), void *context)
{
  static struct frozen_column column;
  static char line[1 << 16], encoding[40], list[1 << 16], has[200], may_have[200];
  char path[512];
  size_t ncolumns = 0;
  bool is_there = false;
  frozen_path("answers.txt", path);
  FILE *answers = fopen(path, "r");
  cr_assert(answers, "%s", path);
  for (bool more = true; more;) {
    more = fgets(line, sizeof line, answers);
    if (is_there && (!more || line[0] == 'C' || line[0] == 'F')) {
      visit(&column, context);
      ncolumns++;
      is_there = false;
    }
    if (!more)
      break;
    if (sscanf(line, "F %99s", column.file) == 1)
      continue;
    if (sscanf(line, "C %199s %39s %65535s", column.path, encoding, list) == 3) {
      column.encoding = encoding_by_name(encoding);
      read_keys(list, &column);
      column.ngroups = 0;
      is_there = true;
    } else if (sscanf(line, "G %199s %199s", has, may_have) == 2) {
      const size_t i = column.ngroups++;
      cr_assert(i < MAX_NGROUPS);
      hex_decode(has, column.has[i], BITMAP_NBYTES);
      hex_decode(may_have, column.may_have[i], BITMAP_NBYTES);
    }
  }
  fclose(answers);
  return ncolumns;
}

lanebloom_parquet_keys *prepare(const lanebloom_parquet *file, const lanebloom_keys *keys)
{
  lanebloom_parquet_column_info type;
  lanebloom_parquet_keys *prepared;
  char problem[PROBLEM_NBYTES];
  lanebloom_parquet_describe_column(file, 0, &type, sizeof type);
  if (lanebloom_parquet_keys_create(file, 0, type.encoding, keys, &prepared, NULL, problem,
                                    sizeof problem))
    test_fatal("%s", problem);
  return prepared;
}
