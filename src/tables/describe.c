/* Describes a table for lanebloom_table_describe(): copies the facts that the loader found, and
 * estimates the false-positive rate from the bits that are set in the filters.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "../info.h"
#include "filter_block.h"
#include "table.h"

/* Sums over the filters of a table. If the order of keys selects one filter for each key, an absent
 * key is more likely to meet a filter with many keys, so the rate of each filter is weighted by the
 * filter's size. If all filters are queried, an absent key passes unless every filter stops it. */
struct sum {
  uint64_t nfilters, nbits;
  bool is_short_of_memory;
  double weight, passing;
  double stopped; /* the share of absent keys that every filter stops */
};

static void add_filter(struct sum *sum, const lanebloom_filter *filter, lanebloom_table_info *info)
{
  lanebloom_filter_info one;
  size_t nbytes;
  lanebloom_filter_bytes(filter, &nbytes);
  lanebloom_filter_describe(filter, &one, sizeof one);
  sum->weight += (double)nbytes;
  sum->passing += (double)nbytes * one.model_rate;
  sum->stopped *= 1 - one.model_rate;
  if (one.nbits == 0 && one.model_rate == 0) /* the filter has no keys */
    return;
  if (sum->nfilters++ == 0) {
    info->filter_format = one.format;
    info->nprobes = one.nprobes;
  }
  sum->nbits += one.nbits;
}

/* Adds all filters of a filter block that are not damaged. */
static void add_filter_block(struct sum *sum, const lanebloom_table *table,
                             lanebloom_table_info *info)
{
  const lanebloom_filter_block *block = table->filter_blocks[0];
  const uint64_t n = lanebloom_filter_block_size(block);
  const uint8_t *counted = table->filter_data->bytes;
  for (uint64_t i = 0; i < n; i++) {
    lanebloom_slice bytes;
    lanebloom_filter *filter;
    /* In a damaged block, filters may overlap. To limit the time, a filter that begins before the
     * end of the last counted filter is left out. */
    if (!lanebloom_filter_block_filter(block, i, &bytes) || bytes.size == 0 ||
        (const uint8_t *)bytes.data < counted)
      continue;
    lanebloom_status status =
        lanebloom_filter_parse_raw(table->hash, bytes.data, bytes.size, NULL, &filter, NULL, 0);
    sum->is_short_of_memory |= status == LANEBLOOM_ERR_MEMORY;
    if (status)
      continue;
    counted = (const uint8_t *)bytes.data + bytes.size;
    add_filter(sum, filter, info);
    lanebloom_filter_free(filter);
  }
}

/* Describes the keys of logs, which are stored as hashes and at most one filter. */
static void describe_keys(const lanebloom_table *table, lanebloom_table_info *info)
{
  struct sum sum = {0};
  info->filter_nbytes = table->key_hashes.n * sizeof *table->key_hashes.hashes;
  info->model_rate = 0;
  for (size_t i = 0; i < table->nfilters; i++) {
    size_t nbytes;
    lanebloom_filter_bytes(table->filters[i], &nbytes);
    info->filter_nbytes += nbytes;
    add_filter(&sum, table->filters[i], info);
    info->model_rate = sum.passing / sum.weight;
  }
  info->nfilters = sum.nfilters;
}

static void describe_filter(const lanebloom_table *table, lanebloom_table_info *info)
{
  struct sum sum = {.stopped = 1};
  for (size_t i = 0; i < table->nfilters; i++) {
    const size_t nbytes = table->filter_data[i].nbytes;
    info->filter_nbytes += nbytes;
    if (table->filters[i]) {
      add_filter(&sum, table->filters[i], info);
    } else if (table->kind != LANEBLOOM_TABLE_FILTER_BLOCK) { /* not used, so all keys pass */
      sum.weight += (double)nbytes;
      sum.passing += (double)nbytes;
      sum.stopped = 0;
    }
  }
  if (table->kind == LANEBLOOM_TABLE_FILTER_BLOCK)
    add_filter_block(&sum, table, info);
  info->nfilters = sum.nfilters;
  if (sum.nbits > 0 && table->nentries != LANEBLOOM_UNKNOWN && table->nentries > 0)
    info->bits_per_key = (double)sum.nbits / (double)table->nentries;
  if (table->uses_filter && sum.weight > 0)
    info->model_rate = table->asks_all_filters ? 1 - sum.stopped : sum.passing / sum.weight;
  else if (table->uses_filter)
    info->model_rate = table->kind == LANEBLOOM_TABLE_FILTER_BLOCK;
  if (table->uses_filter && !table->has_whole_keys && table->extractor.kind != EXTRACT_KEY)
    info->model_rate = NAN; /* unknown: keys with a common prefix pass or fail together */
  if (sum.is_short_of_memory) {
    info->nfilters = LANEBLOOM_UNKNOWN;
    info->bits_per_key = info->model_rate = NAN;
  }
}

void lanebloom_table_describe(const lanebloom_table *table, lanebloom_table_info *info,
                              size_t info_size)
{
  lanebloom_table_info full = {
      .engine = table->engine,
      .version = table->version,
      .checksum = table->checksum,
      .filter = table->kind,
      .file_nbytes = table->file_nbytes,
      .nentries = table->nentries,
      .bits_per_key = NAN,
      .model_rate = 1,
      .has_whole_keys = table->has_whole_keys,
      .has_prefixes = table->has_prefixes,
      .has_range = table->has_range,
      .smallest = table->smallest,
      .largest = table->largest,
      .filter_name = table->filter_name ? table->filter_name : "",
      .comparator = table->comparator,
      .prefix_extractor = table->prefix_extractor,
      .warning = table->warning,
      .codecs = table->codecs,
  };
  if (table->kind == LANEBLOOM_TABLE_FILTER_KEYS)
    describe_keys(table, &full);
  else
    describe_filter(table, &full);
  info_copy(info, info_size, &full, sizeof full);
}
