/* The output of `lanebloom tables' for SSTables of Cassandra and ScyllaDB.
 * SPDX-License-Identifier: MIT */
#include "sstable_tables.h"

#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/characters.h"
#include "../base/json_object.h"
#include "../base/memory.h"
#include "../base/report.h"
#include "../files/sstables.h"

static void print_json(const struct sstable *sstable)
{
  const lanebloom_filter_info *info = &sstable->info;
  struct json_object *object = json_begin();
  json_object_object_add(object, "file", json_name(sstable->path));
  json_object_object_add(object, "engine", json_object_new_string("cassandra"));
  json_object_object_add(object, "version", json_object_new_string(sstable->version));
  json_object_object_add(object, "filter",
                         json_object_new_string(sstable->has_filter ? "full" : "none"));
  json_object_object_add(object, "format",
                         json_object_new_string(lanebloom_format_name(sstable->format)));
  json_object_object_add(object, "probes", json_object_new_uint64(info->nprobes));
  json_object_object_add(object, "filter_bytes", json_object_new_uint64(sstable->nbytes));
  json_object_object_add(object, "keys_estimate",
                         sstable->has_filter && info->nkeys_estimate != LANEBLOOM_UNKNOWN
                             ? json_object_new_uint64(info->nkeys_estimate)
                             : NULL);
  json_object_object_add(object, "model_rate", json_number(info->model_rate));
  output_json(object);
}

static void print_row(const char *name, size_t width, const char *version, const char *format,
                      const char *nbytes, const char *nprobes, const char *nkeys, const char *rate)
{
  const size_t nchars = count_characters(name);
  outputf("%s%*s %-7s %-11s %12s %6s %12s %7s\n", name, nchars < width ? (int)(width - nchars) : 0,
          "", version, format, nbytes, nprobes, nkeys, rate);
}

static void print_text(const struct sstable *sstable, const char *name, size_t width)
{
  char sizes[32] = "-", nprobes[16] = "-", nkeys[32] = "-", rate[32];
  const lanebloom_filter_info *info = &sstable->info;
  if (sstable->has_filter) {
    snprintf(sizes, sizeof sizes, "%zu", sstable->nbytes);
    snprintf(nprobes, sizeof nprobes, "%" PRIu32, info->nprobes);
  }
  if (sstable->has_filter && info->nkeys_estimate != LANEBLOOM_UNKNOWN)
    snprintf(nkeys, sizeof nkeys, "%" PRIu64, info->nkeys_estimate);
  snprintf(rate, sizeof rate, "%.3g%%", 100 * info->model_rate);
  print_row(name, width, sstable->version,
            sstable->has_filter ? lanebloom_format_name(sstable->format) : "none", sizes, nprobes,
            nkeys, rate);
}

int sstable_tables(char *const *paths, size_t npaths, bool json, bool header)
{
  struct sstables sstables;
  const bool complete = sstables_load(&sstables, paths, npaths, true);
  char **names = resize(NULL, (sstables.n + 1) * sizeof *names);
  size_t width = strlen("FILE");
  for (size_t i = 0; i < sstables.n; i++) {
    names[i] = escape_word(sstables.all[i].path, strlen(sstables.all[i].path), SIZE_MAX);
    const size_t nchars = count_characters(names[i]);
    width = nchars > width ? nchars : width;
  }
  if (sstables.n > 0 && header && !json)
    print_row("FILE", width, "VERSION", "FILTER", "BYTES", "PROBES", "KEYS", "RATE");
  for (size_t i = 0; i < sstables.n; i++) {
    if (json)
      print_json(&sstables.all[i]);
    else
      print_text(&sstables.all[i], names[i], width);
    free(names[i]);
  }
  free(names);
  sstables_free(&sstables);
  return complete ? EXIT_SUCCESS : EXIT_TROUBLE;
}
