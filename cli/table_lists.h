/* Which tables may have which records: lists, in memory that is bounded however many tables and
 * records there are.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_TABLE_LISTS_H
#define LANEBLOOM_CLI_TABLE_LISTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "database.h"

/* A worker's. It takes up to 4.5 MiB; each of more than 32,768 tables takes 16 bytes more, and of
 * more than 65,536 another 32. */
struct table_lists {
  size_t nrecords;  /* that have a list */
  uint32_t *ends;   /* record i's tables end at tables[ends[i]], and begin at the end before */
  uint32_t *tables; /* their numbers, ascending in each list */

  /* private */
  const struct database *database;
  size_t capacity;   /* of tables */
  size_t row_nbytes; /* for as many keys as are screened at once */
  uint8_t *bitmaps, **rows;
};

/* False when there is no memory. */
bool table_lists_create(struct table_lists *lists, const struct database *database);
void table_lists_destroy(struct table_lists *lists);

/* Screens a batch as lanebloom_tables_screen() does, and adds lists of those of its keys that may
 * be in a table. any: as many bytes as there are keys / 8, and 8 more. Once there is no room for
 * the lists of some keys, *is_full is set; from then on nothing is added. */
size_t table_lists_screen(struct table_lists *lists, const lanebloom_keys *keys, uint8_t *any,
                          bool *is_full);

/* Forgets all lists, then makes one for each of the first keys of the batch, at least one; returns
 * for how many keys. A list is empty where the key is in no table after all: without memory a
 * screening that came before let it pass. */
size_t table_lists_restart(struct table_lists *lists, const lanebloom_keys *keys);

#endif
