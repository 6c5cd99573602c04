/* Sources are the filters, or the tables of databases, that an answer consists of. Each source has
 * a name, which --which prints.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_SOURCES_H
#define LANEBLOOM_CLI_SOURCES_H

#include <stddef.h>
#include <stdint.h>

#include <lanebloom_tables.h>

struct source {
  const char *name;             /* the path of the filter or table */
  const lanebloom_table *table; /* NULL: the source is a filter */
  lanebloom_filter *filter;
  lanebloom_format hash; /* if there are several filters, the hash that this filter needs; otherwise
                          * 0 */
};

struct sources {
  struct source *all; /* all of them are filters, or all are tables */
  size_t n;

  /* private */
  const lanebloom_table **tables; /* the tables of all sources; NULL: the sources are filters */
};

/* Add a filter, which the sources own from now on, or a table, which is borrowed. The path is
 * borrowed, too. */
void sources_add_filter(struct sources *sources, const char *path, lanebloom_filter *filter);
void sources_add_table(struct sources *sources, const char *path, const lanebloom_table *table);
void sources_free(struct sources *sources);

/* Finds out which hash each filter needs. If there are several filters, call this after all of them
 * were added. */
void sources_find_hashes(struct sources *sources);

/* If there are at least this many sources, a record takes so much time that its key is stored, and
 * the keys of a whole chunk are screened at once. */
enum { MANY_SOURCES = 64 };

/* Screens a batch of keys by all sources. Hashes each key once for each kind of hash that the
 * filters need. `any` tells which keys may be in at least one source. For `bitmaps`, `counts` and
 * the result, see lanebloom_tables_screen(). Several threads may call this at once. */
size_t sources_screen(const struct sources *sources, const lanebloom_keys *keys, uint8_t *any,
                      uint8_t *const *bitmaps, size_t *counts);

/* Returns the share of absent keys that pass any of the sources. All sources must be filters, and
 * are assumed to be independent of each other. Costs as much as lanebloom_filter_describe() for
 * each filter. */
double sources_rate(const struct sources *sources);

#endif
