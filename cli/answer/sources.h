/* Sources: the named filters, or the tables of a database, that records are screened by.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_SOURCES_H
#define LANEBLOOM_CLI_SOURCES_H

#include <stddef.h>
#include <stdint.h>

#include <lanebloom_tables.h>

struct source {
  const char *name;             /* the path */
  const lanebloom_table *table; /* NULL: the source is the filter */
  lanebloom_filter *filter;
  lanebloom_format hash; /* of the filter, if there are several sources; else 0 */
};

struct sources {
  struct source *all; /* all are filters, or all are tables */
  size_t n;

  /* private */
  const lanebloom_table **tables; /* of all sources; NULL: the sources are filters */
};

/* Add a filter, which the sources then own, or a table, which is borrowed. The path is borrowed. */
void sources_add_filter(struct sources *sources, const char *path, lanebloom_filter *filter);
void sources_add_table(struct sources *sources, const char *path, const lanebloom_table *table);
void sources_free(struct sources *sources);

/* Determines which hash each filter needs. Call it after the last of several filters was added.
 * Cost: that of lanebloom_filter_describe(). */
void sources_find_hashes(struct sources *sources);

/* Screens a batch by all sources. Keys are hashed once for each kind of hash. any: says which keys
 * may be in any source. bitmaps, counts and the result: as in lanebloom_tables_screen(). Takes at
 * most BATCH_NRECORDS keys. Any number of threads may call it. */
size_t sources_screen(const struct sources *sources, const lanebloom_keys *keys, uint8_t *any,
                      uint8_t *const *bitmaps, size_t *counts);

/* Returns the share of absent keys that pass any of the sources, if the filters are independent of
 * each other. All sources must be filters. Cost: that of lanebloom_filter_describe(). */
double sources_rate(const struct sources *sources);

#endif
