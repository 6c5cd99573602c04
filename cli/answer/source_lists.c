/* Makes lists of sources for records. It screens one part of a batch at a time, with one bitmap for
 * each source, and then turns the bitmaps into one list for each record. The lists are smaller than
 * the bitmaps, because few records are in many sources.
 * SPDX-License-Identifier: MIT */
#include "source_lists.h"

#include <stdlib.h>
#include <string.h>

#include "../base/bits.h"
#include "../input/inputs.h"
#include "../input/records.h"

enum {
  BITMAPS_NBYTES = 256 << 10, /* the bitmaps of all sources together; with up to 1,024 sources, a
                               * whole batch fits */
  LISTS_NSOURCES = 512 << 10, /* the entries of all lists together; if records have 12 bytes, a
                               * chunk has twelve entries for each of its records */
  MIN_NKEYS = 8,              /* lists of this many keys must fit even if each key is in all
                               * sources */
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

bool source_lists_create(struct source_lists *lists, const struct sources *sources)
{
  const size_t nsources = sources->n;
  const size_t row_nbytes =
      larger(BITMAPS_NBYTES / nsources / WORD_NBYTES * WORD_NBYTES, WORD_NBYTES);
  *lists = (struct source_lists){.sources = sources,
                                 .capacity = larger(LISTS_NSOURCES, MIN_NKEYS * nsources),
                                 .row_nbytes = smaller(row_nbytes, BATCH_NRECORDS / 8)};
  /* a chunk whose records have lists is not enlarged, so it has at most READ_NBYTES records */
  lists->ends = malloc((READ_NBYTES + 1) * sizeof *lists->ends);
  lists->indices = malloc(lists->capacity * sizeof *lists->indices);
  lists->bitmaps = malloc(nsources * lists->row_nbytes);
  lists->rows = malloc(nsources * sizeof *lists->rows);
  if (!lists->ends || !lists->indices || !lists->bitmaps || !lists->rows)
    return false;
  for (size_t source = 0; source < nsources; source++)
    lists->rows[source] = lists->bitmaps + source * lists->row_nbytes;
  return true;
}

void source_lists_destroy(struct source_lists *lists)
{
  free(lists->ends);
  free(lists->indices);
  free(lists->bitmaps);
  free(lists->rows);
}

/* Adds a list for each of the n keys whose bit in `listed` is set. The lists are made from the
 * bitmaps of the sources. If the lists do not all fit, adds none and returns false. */
static bool add_lists(struct source_lists *lists, size_t n, const uint8_t *listed)
{
  const size_t nsources = lists->sources->n;
  uint32_t counts[BATCH_NRECORDS] = {0}; /* first the number of sources of each key, later the index
                                          * of the next entry in its list */
  size_t end = lists->nrecords ? lists->ends[lists->nrecords - 1] : 0, total = end;
  for (size_t source = 0; source < nsources; source++)
    for (size_t i = 0; (i = find_bit(lists->rows[source], i, n, true)) < n; i++, total++)
      counts[i]++;
  if (total > lists->capacity)
    return false;
  for (size_t i = 0; (i = find_bit(listed, i, n, true)) < n; i++) {
    const uint32_t begin = (uint32_t)end;
    end += counts[i];
    counts[i] = begin;
    lists->ends[lists->nrecords++] = (uint32_t)end;
  }
  for (uint32_t source = 0; source < nsources; source++)
    for (size_t i = 0; (i = find_bit(lists->rows[source], i, n, true)) < n; i++)
      lists->indices[counts[i]++] = source;
  return true;
}

static size_t screen_part(const struct source_lists *lists, const lanebloom_keys *keys,
                          uint8_t *any)
{
  return sources_screen(lists->sources, keys, any, lists->rows, NULL);
}

size_t source_lists_screen(struct source_lists *lists, const lanebloom_keys *keys, uint8_t *any,
                           bool *is_full)
{
  if (*is_full)
    return sources_screen(lists->sources, keys, any, NULL, NULL);
  const size_t part_nkeys = lists->row_nbytes * 8;
  size_t nhits = 0;
  for (size_t first = 0; first < keys->n; first += part_nkeys) {
    const lanebloom_keys part = lanebloom_keys_part(keys, first, part_nkeys);
    nhits += screen_part(lists, &part, any + first / 8);
    *is_full = *is_full || !add_lists(lists, part.n, any + first / 8);
  }
  return nhits;
}

size_t source_lists_restart(struct source_lists *lists, const lanebloom_keys *keys)
{
  /* So few keys are taken that their lists fit even if each key is in all sources. */
  const size_t fitting = lists->capacity / lists->sources->n / 8 * 8;
  const lanebloom_keys part =
      lanebloom_keys_part(keys, 0, smaller(smaller(fitting, lists->row_nbytes * 8), keys->n));
  uint8_t any[BATCH_NRECORDS / 8 + WORD_NBYTES];
  lists->nrecords = 0;
  screen_part(lists, &part, any);
  memset(any, 0xff, sizeof any);
  add_lists(lists, part.n, any);
  return part.n;
}
