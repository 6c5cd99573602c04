/* Screens a batch part by part into one bitmap for each table, then turns the bitmaps into one list
 * for each record. Lists are smaller: few records are in many tables.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "bits.h"
#include "inputs.h"
#include "table_lists.h"

enum {
  BITMAPS_NBYTES = 256 << 10, /* of all tables: whole batches for up to 1,024 tables */
  LISTS_NTABLES = 512 << 10,  /* of all lists: twelve per record, for records of 12 bytes */
  MIN_NKEYS = 8,              /* keys whose full lists must fit */
  WORD_NBYTES = 8,            /* find_bit() reads whole words */
};

static size_t larger(size_t a, size_t b)
{
  return a > b ? a : b;
}

static size_t smaller(size_t a, size_t b)
{
  return a < b ? a : b;
}

bool table_lists_create(struct table_lists *lists, const struct database *database)
{
  const size_t ntables = database->ntables;
  const size_t row_nbytes =
      larger(BITMAPS_NBYTES / ntables / WORD_NBYTES * WORD_NBYTES, WORD_NBYTES);
  *lists = (struct table_lists){.database = database,
                                .capacity = larger(LISTS_NTABLES, MIN_NKEYS * ntables),
                                .row_nbytes = smaller(row_nbytes, BATCH_NRECORDS / 8)};
  lists->ends = malloc((CHUNK_NRECORDS + 1) * sizeof *lists->ends);
  lists->tables = malloc(lists->capacity * sizeof *lists->tables);
  lists->bitmaps = malloc(ntables * lists->row_nbytes);
  lists->rows = malloc(ntables * sizeof *lists->rows);
  if (!lists->ends || !lists->tables || !lists->bitmaps || !lists->rows)
    return false;
  for (size_t table = 0; table < ntables; table++)
    lists->rows[table] = lists->bitmaps + table * lists->row_nbytes;
  return true;
}

void table_lists_destroy(struct table_lists *lists)
{
  free(lists->ends);
  free(lists->tables);
  free(lists->bitmaps);
  free(lists->rows);
}

/* Adds a list for each of n keys whose bit in `listed` is set, from the tables' bitmaps. false: the
 * lists do not fit, and none is added. */
static bool add_lists(struct table_lists *lists, size_t n, const uint8_t *listed)
{
  const size_t ntables = lists->database->ntables;
  uint32_t counts[BATCH_NRECORDS] = {0}; /* tables of each key; then where its next one goes */
  size_t end = lists->nrecords ? lists->ends[lists->nrecords - 1] : 0, total = end;
  for (size_t table = 0; table < ntables; table++)
    for (size_t i = 0; (i = find_bit(lists->rows[table], i, n, true)) < n; i++, total++)
      counts[i]++;
  if (total > lists->capacity)
    return false;
  for (size_t i = 0; (i = find_bit(listed, i, n, true)) < n; i++) {
    const uint32_t begin = (uint32_t)end;
    end += counts[i];
    counts[i] = begin;
    lists->ends[lists->nrecords++] = (uint32_t)end;
  }
  for (uint32_t table = 0; table < ntables; table++)
    for (size_t i = 0; (i = find_bit(lists->rows[table], i, n, true)) < n; i++)
      lists->tables[counts[i]++] = table;
  return true;
}

static size_t screen_part(const struct table_lists *lists, const lanebloom_keys *keys, uint8_t *any)
{
  const struct database *database = lists->database;
  return lanebloom_tables_screen(database->tables, database->ntables, keys, any, lists->rows, NULL);
}

size_t table_lists_screen(struct table_lists *lists, const lanebloom_keys *keys, uint8_t *any,
                          bool *is_full)
{
  const struct database *database = lists->database;
  if (*is_full)
    return lanebloom_tables_screen(database->tables, database->ntables, keys, any, NULL, NULL);
  const size_t part_nkeys = lists->row_nbytes * 8;
  size_t nhits = 0;
  for (size_t first = 0; first < keys->n; first += part_nkeys) {
    const lanebloom_keys part = lanebloom_keys_part(keys, first, part_nkeys);
    nhits += screen_part(lists, &part, any + first / 8);
    *is_full = *is_full || !add_lists(lists, part.n, any + first / 8);
  }
  return nhits;
}

size_t table_lists_restart(struct table_lists *lists, const lanebloom_keys *keys)
{
  /* so few keys that lists of all tables fit */
  const size_t fitting = lists->capacity / lists->database->ntables / 8 * 8;
  const lanebloom_keys part =
      lanebloom_keys_part(keys, 0, smaller(smaller(fitting, lists->row_nbytes * 8), keys->n));
  uint8_t any[BATCH_NRECORDS / 8 + WORD_NBYTES];
  lists->nrecords = 0;
  screen_part(lists, &part, any);
  memset(any, 0xff, sizeof any);
  add_lists(lists, part.n, any);
  return part.n;
}
