/* An answer says which keys may be present. There are four kinds: filters, the tables of databases,
 * keys in memory, and Parquet files. Each kind has a file in this folder, and code outside the
 * folder uses this interface. Only output/parquet_results.c also knows Parquet files, because it
 * prints their names and row groups.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_ANSWER_H
#define LANEBLOOM_CLI_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "../input/inputs.h"
#include "../input/records.h"
#include "sources.h"

struct json_object;

/* If none of n keys passes, fewer than 3 / n of all such keys are in the filter, with 95 %
 * confidence (the rule of three). For 1,000 keys that is 0.3 %, less than the false positives of
 * most filters. Fewer keys are no reason to doubt the options. */
enum { TELLING_NKEYS = 1000 };

struct answer_kind {
  /* Sets bit i of the bitmap if the key of record i may be present. Returns the number of these
   * keys. bitmap: as for lanebloom_filter_screen(). counts: gets the number for each source; NULL:
   * not wanted. Any number of threads may call it, unless the kind says otherwise. */
  size_t (*screen)(void *context, const struct batch *batch, uint8_t *bitmap, size_t *counts);

  void (*free)(void *context);

  /* Each of the following may be NULL. */

  /* Returns the share of absent keys that pass. NaN, or no function: unknown. */
  double (*rate)(void *context);

  /* Gets the first chunk of the inputs if no record of it is selected. */
  void (*look)(void *context, const struct record_syntax *syntax, const struct chunk *chunk);

  /* Warns if it suggests a mistake that none of nkeys keys passed. It is not called with
   * --invert-match, --quiet or --summary, or if an input failed. */
  void (*warn_of_none)(void *context, uint64_t nkeys);

  /* Could all of its data be read? tells_absence: the output says that keys are absent. */
  bool (*is_whole)(void *context, bool tells_absence);

  /* Add a description of its data to the summary, as text and as JSON. */
  void (*print)(void *context, FILE *stream);
  void (*add_json)(void *context, struct json_object *summary);
};

struct answer {
  const struct answer_kind *kind;
  void *context;
  const struct sources
      *sources;         /* the named filters or tables that --which tells apart; NULL: none */
  bool is_exact;        /* a key that passes is certainly present */
  enum returns returns; /* do its keys end in carriage returns? */
};

#endif
