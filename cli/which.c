/* Tables give bitmaps, for a part of a batch at a time; lists by record are what is printed, and
 * small: few records are in many tables.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "bits.h"
#include "inputs.h"
#include "which.h"

enum {
  BITMAPS_NBYTES = 256 << 10, /* whole batches up to 1,024 tables */
  LISTS_NTABLES = 512 << 10,  /* twelve for each record of 12 bytes in a piece */
  LEAST_NKEYS = 8,            /* that are screened at once */
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

bool which_create(struct which *which, const struct database *database)
{
  const size_t ntables = database->ntables;
  const size_t row_nbytes =
      larger(BITMAPS_NBYTES / ntables / WORD_NBYTES * WORD_NBYTES, WORD_NBYTES);
  *which = (struct which){.database = database,
                          .capacity = larger(LISTS_NTABLES, LEAST_NKEYS * ntables),
                          .row_nbytes = smaller(row_nbytes, BATCH_NRECORDS / 8)};
  which->ends = malloc((PIECE_NRECORDS + 1) * sizeof *which->ends);
  which->tables = malloc(which->capacity * sizeof *which->tables);
  which->bitmaps = malloc(ntables * which->row_nbytes);
  which->rows = malloc(ntables * sizeof *which->rows);
  if (!which->ends || !which->tables || !which->bitmaps || !which->rows)
    return false;
  for (size_t table = 0; table < ntables; table++)
    which->rows[table] = which->bitmaps + table * which->row_nbytes;
  return true;
}

void which_destroy(struct which *which)
{
  free(which->ends);
  free(which->tables);
  free(which->bitmaps);
  free(which->rows);
}

/* Turns the rows of n keys into lists of those that are listed. False: there is no room. */
static bool add_lists(struct which *which, size_t n, const uint8_t *listed)
{
  const size_t ntables = which->database->ntables;
  uint32_t counts[BATCH_NRECORDS] = {0}; /* tables of each key, then where the next one goes */
  size_t end = which->nrecords ? which->ends[which->nrecords - 1] : 0, total = end;
  for (size_t table = 0; table < ntables; table++)
    for (size_t i = 0; (i = find_bit(which->rows[table], i, n, true)) < n; i++, total++)
      counts[i]++;
  if (total > which->capacity)
    return false;
  for (size_t i = 0; (i = find_bit(listed, i, n, true)) < n; i++) {
    const uint32_t begin = (uint32_t)end;
    end += counts[i];
    counts[i] = begin;
    which->ends[which->nrecords++] = (uint32_t)end;
  }
  for (uint32_t table = 0; table < ntables; table++)
    for (size_t i = 0; (i = find_bit(which->rows[table], i, n, true)) < n; i++)
      which->tables[counts[i]++] = table;
  return true;
}

static size_t screen_part(const struct which *which, const lanebloom_keys *keys, uint8_t *any)
{
  const struct database *database = which->database;
  return lanebloom_tables_screen(database->tables, database->ntables, keys, any, which->rows, NULL);
}

size_t which_screen(struct which *which, const lanebloom_keys *keys, uint8_t *any, bool *is_full)
{
  const struct database *database = which->database;
  if (*is_full)
    return lanebloom_tables_screen(database->tables, database->ntables, keys, any, NULL, NULL);
  const size_t part_nkeys = which->row_nbytes * 8;
  size_t nhits = 0;
  for (size_t first = 0; first < keys->n; first += part_nkeys) {
    const lanebloom_keys part = lanebloom_keys_part(keys, first, part_nkeys);
    nhits += screen_part(which, &part, any + first / 8);
    *is_full = *is_full || !add_lists(which, part.n, any + first / 8);
  }
  return nhits;
}

size_t which_restart(struct which *which, const lanebloom_keys *keys)
{
  /* so few that lists of all tables would fit */
  const size_t fitting = which->capacity / which->database->ntables / 8 * 8;
  const lanebloom_keys part =
      lanebloom_keys_part(keys, 0, smaller(smaller(fitting, which->row_nbytes * 8), keys->n));
  uint8_t any[BATCH_NRECORDS / 8 + WORD_NBYTES];
  which->nrecords = 0;
  screen_part(which, &part, any);
  memset(any, 0xff, sizeof any);
  add_lists(which, part.n, any);
  return part.n;
}
