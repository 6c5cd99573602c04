/* Sources: what records are screened by, each with a name: filters, or the tables of a database.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_SOURCES_H
#define LANEBLOOM_CLI_SOURCES_H

#include <stddef.h>
#include <stdint.h>

#include <lanebloom_tables.h>

struct source {
  const char *name;             /* its path */
  const lanebloom_table *table; /* or, if NULL: */
  lanebloom_filter *filter;
  lanebloom_format hash; /* of the filter, if there are several; else 0 */
};

struct sources {
  struct source *all; /* only filters, or only tables */
  size_t n;

  /* private */
  const lanebloom_table **tables; /* of all sources, or NULL */
};

/* Adds a filter, which then belongs to the sources, or a table, which is borrowed. The path is
 * borrowed. */
void sources_add_filter(struct sources *sources, const char *path, lanebloom_filter *filter);
void sources_add_table(struct sources *sources, const char *path, const lanebloom_table *table);
void sources_free(struct sources *sources);

/* Finds out what hash each filter needs. To be called after the last of several was added. Cost: as
 * of lanebloom_filter_describe(). */
void sources_find_hashes(struct sources *sources);

/* Screens a batch by all sources. Keys are hashed once for each kind of hash. any: which keys may
 * be in any source; bitmaps, counts and the result: as of lanebloom_tables_screen(). At most
 * BATCH_NRECORDS keys. Any number of threads. */
size_t sources_screen(const struct sources *sources, const lanebloom_keys *keys, uint8_t *any,
                      uint8_t *const *bitmaps, size_t *counts);

/* The share of absent keys that pass any of the sources, if one filter does not depend on the
 * other; NaN for tables. Cost: as of lanebloom_filter_describe(). */
double sources_rate(const struct sources *sources);

#endif
