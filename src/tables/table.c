/* Closes tables, collects their warnings, and returns the names of engines, writers and kinds of
 * filters.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

void lanebloom_table_warn(lanebloom_table *table, const char *text)
{
  const size_t n = strlen(table->warning);
  snprintf(table->warning + n, sizeof table->warning - n, "%s%s", n ? "; " : "", text);
}

void lanebloom_table_free(lanebloom_table *table)
{
  if (!table)
    return;
  for (size_t i = 0; i < table->nfilters; i++) {
    if (table->filters)
      lanebloom_filter_free(table->filters[i]);
    if (table->filter_data)
      lanebloom_block_free(&table->filter_data[i]);
  }
  free(table->filters);
  free(table->filter_data);
  for (size_t i = 0; i < 2; i++)
    lanebloom_filter_block_free(table->filter_blocks[i]);
  lanebloom_index_free(&table->index);
  lanebloom_hash_set_free(&table->key_hashes);
  free((void *)(uintptr_t)table->smallest.data);
  free((void *)(uintptr_t)table->largest.data);
  free(table->comparator);
  free(table->prefix_extractor);
  free(table->filter_name);
  free(table);
}

lanebloom_table_filter lanebloom_table_filter_kind(const lanebloom_table *table)
{
  return table->kind;
}

const char *lanebloom_table_warning(const lanebloom_table *table)
{
  return table->warning;
}

const lanebloom_filter *lanebloom_table_full_filter(const lanebloom_table *table)
{
  return table->kind == LANEBLOOM_TABLE_FILTER_FULL ? table->filters[0] : NULL;
}

/* ---- Names ---- */

static const char *name_at(const char *const *names, size_t n, size_t i)
{
  return i < n && names[i] ? names[i] : "unknown";
}

const char *lanebloom_engine_name(lanebloom_engine engine)
{
  static const char *const names[] = {[LANEBLOOM_ENGINE_LEVELDB] = "leveldb",
                                      [LANEBLOOM_ENGINE_ROCKSDB] = "rocksdb",
                                      [LANEBLOOM_ENGINE_PEBBLE] = "pebble"};
  return name_at(names, sizeof names / sizeof *names, (size_t)engine);
}

const char *lanebloom_table_filter_name(lanebloom_table_filter filter)
{
  static const char *const names[] = {[LANEBLOOM_TABLE_FILTER_NONE] = "none",
                                      [LANEBLOOM_TABLE_FILTER_BLOCK] = "block",
                                      [LANEBLOOM_TABLE_FILTER_FULL] = "full",
                                      [LANEBLOOM_TABLE_FILTER_PARTITIONED] = "partitioned",
                                      [LANEBLOOM_TABLE_FILTER_OTHER] = "other",
                                      [LANEBLOOM_TABLE_FILTER_KEYS] = "keys"};
  return name_at(names, sizeof names / sizeof *names, (size_t)filter);
}

static const char *const writer_names[] = {
    [LANEBLOOM_WRITER_LEVELDB] = "leveldb", [LANEBLOOM_WRITER_GOLEVELDB] = "goleveldb"};
enum { NWRITERS = sizeof writer_names / sizeof *writer_names };

const char *lanebloom_writer_name(lanebloom_writer writer)
{
  return name_at(writer_names, NWRITERS, (size_t)writer);
}

bool lanebloom_writer_by_name(const char *name, lanebloom_writer *writer)
{
  for (size_t i = 0; i < NWRITERS; i++)
    if (writer_names[i] && strcmp(writer_names[i], name) == 0) {
      *writer = (lanebloom_writer)i;
      return true;
    }
  return false;
}
