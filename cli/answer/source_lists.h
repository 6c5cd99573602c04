/* Makes a list for each of many records. The list names the sources that may contain the record.
 * The memory is limited, even if there are many sources and records.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_SOURCE_LISTS_H
#define LANEBLOOM_CLI_SOURCE_LISTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sources.h"

/* The lists of one worker. With up to 32,768 sources, the lists take at most 4.5 MiB. Each source
 * from 32,769 to 65,536 takes 16 bytes more. Each source beyond 65,536 takes 48 bytes more. */
struct source_lists {
  size_t nrecords;   /* the number of records that have a list */
  uint32_t *ends;    /* the end of each list: list i is indices[ends[i - 1] .. ends[i]), and list 0
                      * begins at 0 */
  uint32_t *indices; /* the indices of the sources, in ascending order within a list */

  /* private */
  const struct sources *sources;
  size_t capacity;   /* the number of elements of `indices` */
  size_t row_nbytes; /* the size of the bitmap of one source, so 8 * row_nbytes keys are screened at
                      * once */
  uint8_t *bitmaps, **rows;
};

/* Makes empty lists for the sources, which are borrowed; there must be at least one. Returns false
 * if memory ran out. Call source_lists_destroy() in either case. */
bool source_lists_create(struct source_lists *lists, const struct sources *sources);
void source_lists_destroy(struct source_lists *lists);

/* Screens a batch like sources_screen(), and adds a list for each key that may be in a source.
 * `any` must have room for ceil(keys->n / 8) + 8 bytes. If the lists do not fit, sets *is_full and
 * adds no more lists for this batch. If *is_full is already set, adds no lists. */
size_t source_lists_screen(struct source_lists *lists, const lanebloom_keys *keys, uint8_t *any,
                           bool *is_full);

/* Removes all lists, and makes lists for the first keys of the batch, as many as fit. Returns the
 * number of these keys, at least 1. A list may be empty: if memory ran out in the first pass, a key
 * may have been selected although it is in no source. */
size_t source_lists_restart(struct source_lists *lists, const lanebloom_keys *keys);

#endif
