/* Makes a list for each of many records: the sources that may contain it. The memory is bounded,
 * however many sources and records there are.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_SOURCE_LISTS_H
#define LANEBLOOM_CLI_SOURCE_LISTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sources.h"

/* Each worker has its own lists. They take at most 4.5 MiB, plus 16 bytes for each source beyond
 * 32,768 and 32 bytes for each beyond 65,536. */
struct source_lists {
  size_t nrecords;   /* records that have a list */
  uint32_t *ends;    /* list i is indices[ends[i - 1] .. ends[i]); list 0 begins at 0 */
  uint32_t *indices; /* of sources, ascending in each list */

  /* private */
  const struct sources *sources;
  size_t capacity;   /* elements of `indices` */
  size_t row_nbytes; /* bytes of one source's bitmap: 8 * row_nbytes keys are screened at once */
  uint8_t *bitmaps, **rows;
};

/* Makes empty lists for the sources, at least one, which are borrowed. false: memory ran out;
 * source_lists_destroy() must still be called. */
bool source_lists_create(struct source_lists *lists, const struct sources *sources);
void source_lists_destroy(struct source_lists *lists);

/* Screens a batch as sources_screen() does, and adds a list for each key that may be in a source.
 * any: room for ceil(keys->n / 8) + 8 bytes. If the lists do not fit, sets *is_full and adds none
 * for the rest of the batch. While *is_full is set, nothing is added. */
size_t source_lists_screen(struct source_lists *lists, const lanebloom_keys *keys, uint8_t *any,
                           bool *is_full);

/* Deletes all lists, then makes lists for as many of the batch's first keys as fit. Returns the
 * number of these keys, at least 1. A list can be empty: if memory ran out when the key was
 * selected, the key passed without being screened. */
size_t source_lists_restart(struct source_lists *lists, const lanebloom_keys *keys);

#endif
