/* An answer tells which keys may be present. `screen' and `match' compare their keys with an
 * answer. There are four kinds of answers: filters, the tables of databases, keys in memory, and
 * Parquet files. Each kind has a file in this folder, and code outside the folder uses this
 * interface. Only output/parquet_results.c also uses the results of single Parquet files, because
 * it prints their names and row groups.
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

/* If fewer keys than this were read and none passed, the reason may be chance. If at least this
 * many were read and none passed, the options may be wrong. If none of n keys passes, then with 95
 * % confidence fewer than 3 / n of all such keys are in the filter (the rule of three). For 1,000
 * keys, 3 / n is 0.3 %, which is less than the false-positive rate of most filters. */
enum { SIGNIFICANT_NKEYS = 1000 };

struct answer_kind {
  /* Sets bit i of the bitmap if the key of record i may be present. Returns the number of these
   * keys. The bitmap is as for lanebloom_filter_screen(). If `counts` is not NULL, sets counts[i]
   * to the number of keys that may be in source i. Several threads may call this at once, unless
   * the kind says otherwise. */
  size_t (*screen)(void *context, const struct batch *batch, uint8_t *bitmap, size_t *counts);

  void (*free)(void *context);

  /* Each of the following functions may be NULL. */

  /* Returns the share of absent keys that pass as false positives, or NaN if the share is unknown.
   * If this function is NULL, the share is unknown, too. */
  double (*rate)(void *context);

  /* Looks for a mistake in the first chunk of the inputs. This function is called only if no record
   * of this chunk is selected. */
  void (*inspect_unselected)(void *context, const struct record_syntax *syntax,
                             const struct chunk *chunk);

  /* Warns if the result suggests a mistake. This function is called if none of nkeys keys passed,
   * unless --invert-match, --quiet or --summary was given or an input failed. */
  void (*warn_of_none)(void *context, uint64_t nkeys);

  /* Were all data of the answer read? tells_absence is true if the output reports keys as
   * absent. */
  bool (*is_whole)(void *context, bool tells_absence);

  /* Add a description of the answer's data to the summary, as text and as JSON. */
  void (*print)(void *context, FILE *stream);
  void (*add_json)(void *context, struct json_object *summary);
};

struct answer {
  const struct answer_kind *kind;
  void *context;
  const struct sources
      *sources;         /* the named filters or tables that --which tells apart; NULL: none */
  bool is_exact;        /* a key that passes is certainly present */
  enum returns returns; /* do the answer's own keys end in carriage returns? */
};

#endif
