/* Knows writers of Parquet files, and which of their statistics are right.
 * Source: parquet-format, parquet.thrift (created_by). created_by has the grammar of parquet-mr's
 * VersionParser: "APPLICATION version VERSION (build BUILD)". docs/parquet.md says how each row was
 * tried.
 * SPDX-License-Identifier: MIT */
#include "writer.h"

#include <ctype.h>
#include <string.h>

/* A version as a number, so that versions can be compared. A release candidate is below its release
 * by 1. */
#define VERSION(major, minor, patch)                                                               \
  ((uint64_t)(major) << 43 | (uint64_t)(minor) << 22 | (uint64_t)(patch) << 1 | 1)
#define NO_VERSION UINT64_C(0)

enum {
  MAX_NUMBER = 1 << 21, /* the numbers of a version are below this */
  SIGNED = 1 << ORDER_SIGNED,
  UNSIGNED = 1 << ORDER_UNSIGNED,
  FLOATS = 1 << ORDER_FLOAT,
  BYTES = 1 << ORDER_BYTES,
  BIG_ENDIANS = 1 << ORDER_BIG_ENDIAN,
  ALL = SIGNED | UNSIGNED | FLOATS | BYTES | BIG_ENDIANS
};

/* The writers whose statistics were tried. A file is judged by one row. It is the first row that
 * has the application of the file's writer and a `from` that is not above the writer's version. */
static const struct row {
  const char *application;
  uint64_t from;
  unsigned orders;
  bool counts;
} rows[] = {
    {"parquet-cpp-arrow", VERSION(10, 0, 1), ALL, true},
    {"DuckDB", VERSION(1, 1, 3), ALL, true},
    {"ClickHouse", VERSION(26, 9, 2), ALL, true},
    {"parquet-mr", VERSION(1, 10, 1), ALL, true},
    {"parquet-rs", VERSION(60, 1, 0), ALL, true},
    {"parquet-go", VERSION(18, 8, 0), ALL, true},
    {"fastparquet-python", VERSION(2026, 9, 0), SIGNED | FLOATS, true},
    /* This writer orders decimals in bytes as if they had no sign. If a chunk has NaN, the writer's
     * bounds leave out some other values. */
    {"github.com/parquet-go/parquet-go", VERSION(0, 32, 0), SIGNED | UNSIGNED | BYTES, true},
    /* This writer names no version. Up to 1.44.2, it counts the same nulls once per page, and
     * merges the bounds of pages without regard to signs and NaN. */
    {"Polars", NO_VERSION, SIGNED | BYTES, false},
};

/* Reads a version of the form "1.2.3", "v1.2.3" or "1.2.3-rc1". Returns NO_VERSION if the text has
 * another form. */
static uint64_t read_version(const char *at, const char *end)
{
  uint64_t numbers[3] = {0};
  at += at < end && *at == 'v';
  for (size_t i = 0; i < 3; i++) {
    if (i > 0 && (at == end || *at++ != '.'))
      return NO_VERSION;
    if (at == end || !isdigit((unsigned char)*at))
      return NO_VERSION;
    for (; at < end && isdigit((unsigned char)*at); at++) {
      numbers[i] = 10 * numbers[i] + (uint64_t)(*at - '0');
      if (numbers[i] >= MAX_NUMBER)
        return NO_VERSION;
    }
  }
  const bool is_release = at == end || isspace((unsigned char)*at) || *at == '(' || *at == '+';
  return VERSION(numbers[0], numbers[1], numbers[2]) - !is_release;
}

static const char *skip_spaces(const char *at)
{
  while (isspace((unsigned char)*at))
    at++;
  return at;
}

/* Returns the end of the application's name. *version becomes the beginning of the version, or the
 * end of the text if there is none. */
static const char *split(const char *text, const char **version)
{
  static const char word[] = "version";
  for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
    if (at > text && isspace((unsigned char)at[-1])) {
      *version = skip_spaces(at + strlen(word));
      while (at > text && isspace((unsigned char)at[-1]))
        at--;
      return at;
    }
  *version = text + strlen(text);
  return *version;
}

/* Finds the row of a writer, or returns NULL. *is_named becomes true if a row has the writer's
 * application, in any version. */
static const struct row *find_row(const char *created_by, bool *is_named)
{
  const char *version_text;
  const size_t n = (size_t)(split(created_by, &version_text) - created_by);
  const uint64_t version = read_version(version_text, version_text + strlen(version_text));
  *is_named = false;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (strlen(rows[i].application) != n || memcmp(rows[i].application, created_by, n) != 0)
      continue;
    *is_named = true;
    if (version >= rows[i].from)
      return &rows[i];
  }
  return NULL;
}

static const char *const bounds_names[] = {[LANEBLOOM_PARQUET_BOUNDS_KNOWN] = "known",
                                           [LANEBLOOM_PARQUET_BOUNDS_ALL] = "all",
                                           [LANEBLOOM_PARQUET_BOUNDS_NONE] = "none"};
enum { NBOUNDS = sizeof bounds_names / sizeof *bounds_names };

const char *lanebloom_parquet_bounds_name(lanebloom_parquet_bounds bounds)
{
  return (unsigned)bounds < NBOUNDS ? bounds_names[bounds] : "unknown";
}

bool lanebloom_parquet_bounds_by_name(const char *name, lanebloom_parquet_bounds *bounds)
{
  unsigned i = 0;
  while (i < NBOUNDS && strcmp(name, bounds_names[i]) != 0)
    i++;
  if (i < NBOUNDS)
    *bounds = (lanebloom_parquet_bounds)i;
  return i < NBOUNDS;
}

struct trust lanebloom_trust_in(const char *created_by, lanebloom_parquet_bounds bounds)
{
  if (bounds == LANEBLOOM_PARQUET_BOUNDS_ALL)
    return (struct trust){.counts = true, .orders = ALL};
  if (bounds == LANEBLOOM_PARQUET_BOUNDS_NONE)
    return (struct trust){.doubt = "not-asked-for"};
  if (!created_by)
    return (struct trust){.doubt = "writer-unnamed"};
  bool is_named;
  const struct row *row = find_row(created_by, &is_named);
  if (!row)
    return (struct trust){.doubt = is_named ? "version-untried" : "writer-untried"};
  return (struct trust){.counts = row->counts,
                        .orders = row->orders,
                        .doubt = row->orders == ALL && row->counts ? NULL : "writer-wrong"};
}
