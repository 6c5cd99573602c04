/* Screens batches of keys by several filters or tables.
 * SPDX-License-Identifier: MIT */
#include "sources.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/bits.h"
#include "../base/memory.h"
#include "../base/report.h"
#include "../files/filters.h"
#include "../input/records.h"

static struct source *add_source(struct sources *sources, const char *path)
{
  sources->all = grow_list(sources->all, sources->n, sizeof *sources->all);
  struct source *source = &sources->all[sources->n++];
  *source = (struct source){.name = path};
  return source;
}

void sources_add_filter(struct sources *sources, const char *path, lanebloom_filter *filter)
{
  add_source(sources, path)->filter = filter;
}

void sources_add_table(struct sources *sources, const char *path, const lanebloom_table *table)
{
  sources->tables = grow_list(sources->tables, sources->n, sizeof *sources->tables);
  sources->tables[sources->n] = table;
  add_source(sources, path)->table = table;
}

void sources_find_hashes(struct sources *sources)
{
  for (size_t i = 0; i < sources->n; i++)
    sources->all[i].hash = lanebloom_format_hash(lanebloom_filter_format(sources->all[i].filter));
}

double sources_rate(const struct sources *sources)
{
  double log_none = 0; /* the logarithm of the share that passes no filter; a logarithm does not
                        * round tiny rates away */
  for (size_t i = 0; i < sources->n; i++) {
    lanebloom_filter_info info;
    lanebloom_filter_describe(sources->all[i].filter, &info, sizeof info);
    log_none += log1p(-info.model_rate);
  }
  return -expm1(log_none);
}

void sources_free(struct sources *sources)
{
  for (size_t i = 0; i < sources->n; i++)
    lanebloom_filter_free(sources->all[i].filter);
  free(sources->all);
  free(sources->tables);
  *sources = (struct sources){0};
}

/* ---- Screening by filters ---- */

/* The most keys that are screened at a time, so that memory is bounded. The more of the keys select
 * a line of a filter, the less time each of them takes. */
enum { PART_NKEYS = 1 << 18 };

/* Hashes the keys for the filters that need this hash. Returns NULL for formats without a hash:
 * filters of LANEBLOOM_ROCKSDB have the same result for every key, and filters of LANEBLOOM_HUDI
 * hash the keys themselves. */
static lanebloom_hash_batch *hash_keys(const struct sources *sources, lanebloom_format format,
                                       const lanebloom_keys *keys, void *hashes)
{
  lanebloom_hash_batch *batch;
  size_t nfilters = 0;
  if (lanebloom_format_hash_size(format) == 0)
    return NULL;
  for (size_t i = 0; i < sources->n; i++)
    nfilters += sources->all[i].hash == format;
  lanebloom_status status = lanebloom_hash(format, keys, hashes);
  if (!status)
    status = lanebloom_hash_batch_create(format, hashes, keys->n, nfilters, &batch);
  if (status)
    die(NULL, "%s", status_text(status));
  return batch;
}

/* Screens the keys by all filters that need this hash. The results are added to `any` and
 * counts. */
static void screen_by_hash(const struct sources *sources, lanebloom_format hash,
                           const lanebloom_keys *keys, size_t first, void *hashes, uint8_t *hits,
                           uint8_t *any, uint8_t *const *bitmaps, size_t *counts)
{
  const size_t nbytes = (keys->n + 7) / 8;
  lanebloom_hash_batch *batch = NULL;
  bool is_hashed = false;
  for (size_t i = 0; i < sources->n; i++) {
    if (sources->all[i].hash != hash)
      continue;
    if (!is_hashed)
      batch = hash_keys(sources, hash, keys, hashes);
    is_hashed = true;
    const lanebloom_filter *filter = sources->all[i].filter;
    uint8_t *passing = bitmaps ? bitmaps[i] + first / 8 : hits;
    const size_t nhits = batch ? lanebloom_filter_screen_batch(filter, batch, passing)
                               : lanebloom_filter_screen(filter, keys, passing);
    if (counts)
      counts[i] += nhits;
    add_bits(any, passing, nhits > 0 ? nbytes : 0);
  }
  lanebloom_hash_batch_free(batch);
}

static size_t screen_by_filters(const struct sources *sources, const lanebloom_keys *keys,
                                uint8_t *any, uint8_t *const *bitmaps, size_t *counts)
{
  const size_t most = keys->n < PART_NKEYS ? keys->n : PART_NKEYS, nbytes = (keys->n + 7) / 8;
  uint8_t *hashes = resize(NULL, most * LANEBLOOM_MAX_HASH_SIZE);
  uint8_t *hits = resize(NULL, most / 8 + 1);
  memset(any, 0, nbytes);
  if (counts)
    memset(counts, 0, sources->n * sizeof *counts);
  for (size_t first = 0; first < keys->n; first += PART_NKEYS) {
    const lanebloom_keys part = lanebloom_keys_part(keys, first, PART_NKEYS);
    for (size_t at = 0; at < lanebloom_format_count(); at++)
      screen_by_hash(sources, lanebloom_format_at(at), &part, first, hashes, hits, any + first / 8,
                     bitmaps, counts);
  }
  free(hashes);
  free(hits);
  return count_bits(any, nbytes);
}

static size_t screen_by_one(const lanebloom_filter *filter, const lanebloom_keys *keys,
                            uint8_t *any, uint8_t *const *bitmaps, size_t *counts)
{
  const size_t nhits = lanebloom_filter_screen(filter, keys, any);
  if (bitmaps)
    memcpy(*bitmaps, any, (keys->n + 7) / 8);
  if (counts)
    *counts = nhits;
  return nhits;
}

size_t sources_screen(const struct sources *sources, const lanebloom_keys *keys, uint8_t *any,
                      uint8_t *const *bitmaps, size_t *counts)
{
  if (sources->n == 1 && sources->all->filter)
    return screen_by_one(sources->all->filter, keys, any, bitmaps, counts);
  if (sources->tables)
    return lanebloom_tables_screen(sources->tables, sources->n, keys, any, bitmaps, counts);
  return screen_by_filters(sources, keys, any, bitmaps, counts);
}
