/* Parses the metaindex (see metaindex.h), and chooses the filter by its name.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "../common/text.h"
#include "metaindex.h"

/* ---- Names of filters ---- */

static const struct filter_name {
  const char *name;
  lanebloom_table_filter kind;
  lanebloom_format format;
} filter_names[] = {
    /* The names that are known, in RocksDB's order of preference. */
    {"fullfilter.rocksdb.BuiltinBloomFilter", LANEBLOOM_TABLE_FILTER_FULL, LANEBLOOM_ROCKSDB},
    {"fullfilter.binaryfuse", LANEBLOOM_TABLE_FILTER_FULL, LANEBLOOM_PEBBLE_BINARYFUSE},
    {"partitionedfilter.rocksdb.BuiltinBloomFilter", LANEBLOOM_TABLE_FILTER_PARTITIONED,
     LANEBLOOM_ROCKSDB},
    {"filter.rocksdb.BuiltinBloomFilter", LANEBLOOM_TABLE_FILTER_BLOCK, LANEBLOOM_LEVELDB_SIGNED},
    {"filter.leveldb.BuiltinBloomFilter2", LANEBLOOM_TABLE_FILTER_BLOCK, LANEBLOOM_LEVELDB},
    {"filter.leveldb.BuiltinBloomFilter", LANEBLOOM_TABLE_FILTER_BLOCK, 0},
};
enum { NFILTER_NAMES = sizeof filter_names / sizeof *filter_names };

static bool begins_with(lanebloom_slice text, const char *beginning)
{
  const size_t n = strlen(beginning);
  return text.size >= n && memcmp(text.data, beginning, n) == 0;
}

/* Returns the rank of a block's name: its index in the list of known names, NFILTER_NAMES if it is
 * a filter of an unknown policy, or NFILTER_NAMES + 1 if it is no filter. */
static size_t rank_of(lanebloom_slice name)
{
  for (size_t i = 0; i < NFILTER_NAMES; i++)
    if (slice_is(name, filter_names[i].name))
      return i;
  const bool is_filter = begins_with(name, "filter.") || begins_with(name, "fullfilter.") ||
                         begins_with(name, "partitionedfilter.");
  return is_filter ? NFILTER_NAMES : NFILTER_NAMES + 1;
}

static lanebloom_status store_filter(struct metaindex *metaindex, lanebloom_slice name,
                                     struct handle handle, const struct problem *problem)
{
  const size_t rank = rank_of(name);
  if (rank > NFILTER_NAMES || (metaindex->filter_name && rank >= metaindex->filter_rank))
    return LANEBLOOM_OK;
  char *copy = text_copy(name.data, name.size);
  if (!copy)
    return problem_memory(problem, name.size + 1);
  free(metaindex->filter_name);
  metaindex->filter_name = copy;
  metaindex->filter_rank = rank;
  metaindex->filter = handle;
  const bool is_known = rank < NFILTER_NAMES;
  metaindex->filter_kind = is_known ? filter_names[rank].kind : LANEBLOOM_TABLE_FILTER_OTHER;
  metaindex->filter_format = is_known ? filter_names[rank].format : 0;
  return LANEBLOOM_OK;
}

/* ---- The block ---- */

static lanebloom_status store(struct metaindex *metaindex, const struct entries *entries,
                              const struct problem *problem)
{
  const lanebloom_slice name = {entries->key, entries->key_nbytes};
  const struct handle handle = entries->handle;
  if (slice_is(name, "rocksdb.properties") ||
      (slice_is(name, "rocksdb.stats") && !metaindex->has_properties))
    metaindex->properties = handle, metaindex->has_properties = true;
  else if (slice_is(name, "rocksdb.index"))
    metaindex->index = handle, metaindex->has_index = true;
  else if (slice_is(name, "rocksdb.compression_dict"))
    metaindex->dictionary = handle, metaindex->has_dictionary = true;
  else
    return store_filter(metaindex, name, handle, problem);
  return LANEBLOOM_OK;
}

static lanebloom_status parse(const struct block *block, const struct block_reader *reader,
                              struct metaindex *metaindex)
{
  struct entries entries;
  const struct entry_form form = {.has_handles = true};
  lanebloom_status status =
      lanebloom_entries_begin(block, form, reader->footer.engine, reader->problem, &entries);
  if (status)
    return status;
  while (!status && lanebloom_entries_next(&entries))
    status = store(metaindex, &entries, reader->problem);
  const lanebloom_status end = lanebloom_entries_end(&entries, "metaindex block", reader->problem);
  return status ? status : end;
}

lanebloom_status lanebloom_metaindex_load(struct block_reader *reader, struct metaindex *metaindex)
{
  const struct footer *footer = &reader->footer;
  *metaindex = (struct metaindex){.index = footer->index, .has_index = footer->has_index};
  struct block block;
  lanebloom_status status =
      lanebloom_block_read(reader, footer->metaindex, BLOCK_METAINDEX, "metaindex block", &block);
  if (status)
    return status;
  status = parse(&block, reader, metaindex);
  lanebloom_block_free(&block);
  if (!status && !metaindex->has_index)
    status = problem_set(reader->problem, LANEBLOOM_ERR_CORRUPT,
                         "damaged metaindex: expected it to name the index, found no such name");
  if (status)
    lanebloom_metaindex_free(metaindex);
  return status;
}

void lanebloom_metaindex_free(struct metaindex *metaindex)
{
  free(metaindex->filter_name);
  metaindex->filter_name = NULL;
}
