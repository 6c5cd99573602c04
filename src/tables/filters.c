/* The filter of a table: by its name in the metaindex, and what it holds.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "table.h"

/* ---- Its name ---- */

static const struct filter_name {
  const char *name;
  lanebloom_table_filter kind;
  lanebloom_format format; /* 0: the writer decides */
} names[] = {
    /* In the order in which RocksDB looks for them. */
    {"fullfilter.rocksdb.BuiltinBloomFilter", LANEBLOOM_TABLE_FILTER_FULL, LANEBLOOM_ROCKSDB},
    {"partitionedfilter.rocksdb.BuiltinBloomFilter", LANEBLOOM_TABLE_FILTER_PARTITIONED,
     LANEBLOOM_ROCKSDB},
    {"filter.rocksdb.BuiltinBloomFilter", LANEBLOOM_TABLE_FILTER_BLOCK, LANEBLOOM_LEVELDB_SIGNED},
    {"filter.leveldb.BuiltinBloomFilter2", LANEBLOOM_TABLE_FILTER_BLOCK, LANEBLOOM_LEVELDB},
    {"filter.leveldb.BuiltinBloomFilter", LANEBLOOM_TABLE_FILTER_BLOCK, 0},
};
enum { NNAMES = sizeof names / sizeof *names };

static bool begins_with(lanebloom_slice text, const char *beginning)
{
  const size_t n = strlen(beginning);
  return text.size >= n && memcmp(text.data, beginning, n) == 0;
}

/* Its place in the list; NNAMES for filters of other policies; one more for what is no filter. */
static size_t rank_of(lanebloom_slice name)
{
  for (size_t i = 0; i < NNAMES; i++)
    if (slice_is(name, names[i].name))
      return i;
  const bool is_filter = begins_with(name, "filter.") || begins_with(name, "fullfilter.") ||
                         begins_with(name, "partitionedfilter.");
  return is_filter ? NNAMES : NNAMES + 1;
}

lanebloom_status lanebloom_opening_take_filter(struct opening *opening, lanebloom_slice name,
                                               struct handle handle)
{
  lanebloom_table *table = opening->table;
  const size_t rank = rank_of(name);
  if (rank > NNAMES || (table->kind != LANEBLOOM_TABLE_FILTER_NONE && rank >= opening->filter_rank))
    return LANEBLOOM_OK;
  opening->filter_rank = rank;
  opening->filter_handle = handle;
  if (rank < NNAMES) {
    table->filter_name = names[rank].name;
    table->kind = names[rank].kind;
    opening->filter_format = names[rank].format;
    return LANEBLOOM_OK;
  }
  table->kind = LANEBLOOM_TABLE_FILTER_OTHER;
  table->named = strndup(name.data, name.size);
  if (!table->named)
    return problem_memory(opening->problem, name.size);
  table->filter_name = table->named;
  return LANEBLOOM_OK;
}

/* ---- What it holds ---- */

static bool is_number_behind(const char *text, const char *beginning, size_t *number)
{
  const size_t n = strlen(beginning);
  enum { MAX_DIGITS = 9 };
  if (strncmp(text, beginning, n) != 0 || !text[n] || strlen(text + n) > MAX_DIGITS)
    return false;
  *number = 0;
  for (const char *digit = text + n; *digit; digit++) {
    if (*digit < '0' || *digit > '9')
      return false;
    *number = *number * 10 + (size_t)(*digit - '0');
  }
  return true;
}

/* By RocksDB's names. Pebble names its comparer there, and the default one takes the whole key. */
static bool find_extractor(const lanebloom_table *table, struct extractor *extractor)
{
  const char *name = table->prefix_extractor;
  *extractor = (struct extractor){EXTRACT_KEY, 0};
  if (is_number_behind(name, "rocksdb.FixedPrefix.", &extractor->nbytes))
    extractor->kind = EXTRACT_FIXED;
  else if (is_number_behind(name, "rocksdb.CappedPrefix.", &extractor->nbytes))
    extractor->kind = EXTRACT_CAPPED;
  else
    return strcmp(name, "rocksdb.Noop") == 0 ||
           (table->engine == LANEBLOOM_ENGINE_PEBBLE && is_bytewise(name));
  return true;
}

static void decide_what_is_asked(struct opening *opening)
{
  lanebloom_table *table = opening->table;
  const struct properties *properties = &opening->properties;
  if (table->engine == LANEBLOOM_ENGINE_LEVELDB && table->kind == LANEBLOOM_TABLE_FILTER_BLOCK) {
    table->has_whole_keys = table->is_asked = true;
    return;
  }
  if (!opening->has_properties) {
    lanebloom_table_warn(table, "no properties say what the filter holds, which is not asked");
    return;
  }
  if (table->engine == LANEBLOOM_ENGINE_PEBBLE && !is_bytewise(table->comparator)) {
    table->has_prefixes = true;
    lanebloom_table_warn(table,
                         "the filter holds what the comparer takes of keys, and is not asked");
    return;
  }
  const bool has_extractor = table->prefix_extractor[0];
  table->has_whole_keys = properties->says_whole_keys ? properties->has_whole_keys : !has_extractor;
  table->has_prefixes = properties->has_prefixes && has_extractor;
  table->is_asked =
      table->has_whole_keys || (table->has_prefixes && find_extractor(table, &table->extractor));
  if (!table->is_asked)
    lanebloom_table_warn(table,
                         table->has_prefixes
                             ? "the filter holds prefixes by an unknown extractor, and is not asked"
                             : "the filter holds neither keys nor prefixes, and is not asked");
}

/* ---- Reading it ---- */

static bool reserve(lanebloom_table *table, size_t nfilters)
{
  table->filter_blocks = calloc(nfilters ? nfilters : 1, sizeof *table->filter_blocks);
  table->filters = calloc(nfilters ? nfilters : 1, sizeof(lanebloom_filter *));
  table->nfilter_blocks = nfilters;
  return table->filter_blocks && table->filters;
}

static lanebloom_format format_of(const lanebloom_filter *filter)
{
  lanebloom_filter_info info;
  lanebloom_filter_describe(filter, &info, sizeof info);
  return info.format;
}

/* Opens filter i of its block's bytes. It stays NULL where it is of no use: a Ribbon filter, one
 * that is too large, one of another hash than those before. */
static lanebloom_status open_filter(struct opening *opening, size_t i)
{
  lanebloom_table *table = opening->table;
  const struct block *block = &table->filter_blocks[i];
  lanebloom_filter **filter = &table->filters[i];
  lanebloom_status status =
      lanebloom_filter_parse_raw(LANEBLOOM_ROCKSDB, block->bytes, block->nbytes, filter);
  if (status == LANEBLOOM_ERR_FORMAT || status == LANEBLOOM_ERR_LIMIT)
    return LANEBLOOM_OK;
  if (status)
    return problem_set(opening->problem, status, "filter: %s", lanebloom_status_text(status));
  const lanebloom_format format = format_of(*filter);
  if (format == LANEBLOOM_ROCKSDB) /* a constant answer, for which no hash is looked at */
    return LANEBLOOM_OK;
  if (table->hash == LANEBLOOM_ROCKSDB)
    table->hash = format;
  if (table->hash != format) {
    lanebloom_filter_close(*filter);
    *filter = NULL;
  }
  return LANEBLOOM_OK;
}

/* A Ribbon filter's bytes end with 0xfe, a seed and a number of blocks. */
static bool is_ribbon(const struct block *block)
{
  enum { TRAILER_NBYTES = 5, MARK = 0xfe };
  return block->nbytes > TRAILER_NBYTES && block->bytes[block->nbytes - TRAILER_NBYTES] == MARK;
}

/* Where not one filter can be asked, the table's is of another kind. */
static void judge_filters(lanebloom_table *table)
{
  size_t nclosed = 0, nribbons = 0;
  for (size_t i = 0; i < table->nfilter_blocks; i++) {
    nclosed += !table->filters[i];
    nribbons += !table->filters[i] && is_ribbon(&table->filter_blocks[i]);
  }
  if (table->hash == LANEBLOOM_ROCKSDB)
    table->hash =
        LANEBLOOM_ROCKSDB_LOCAL; /* constant answers alone: one hash is as good as another */
  if (nclosed == 0)
    return;
  lanebloom_table_warn(
      table, nribbons > 0 ? "a Ribbon filter, which is not asked: every key in range may be there"
                          : "a filter that is not known, and not asked");
  if (nclosed < table->nfilter_blocks)
    return;
  table->kind = LANEBLOOM_TABLE_FILTER_OTHER;
  table->is_asked = false;
}

static lanebloom_status read_full(struct opening *opening)
{
  lanebloom_table *table = opening->table;
  if (!reserve(table, 1))
    return problem_memory(opening->problem, sizeof *table->filter_blocks);
  lanebloom_status status = lanebloom_block_read(&opening->reader, opening->filter_handle,
                                                 BLOCK_META, "filter", table->filter_blocks);
  return status ? status : open_filter(opening, 0);
}

static lanebloom_status read_partitions(struct opening *opening)
{
  lanebloom_table *table = opening->table;
  const struct entry_form form = {.has_deltas = opening->properties.index_has_deltas};
  lanebloom_status status = lanebloom_index_read(&opening->reader, opening->filter_handle, form,
                                                 "index of filters", &table->index);
  if (status)
    return status;
  const size_t suffix_nbytes = opening->properties.index_has_user_keys ? 0 : SUFFIX_NBYTES;
  if (table->is_asked && !lanebloom_index_ascends(&table->index, suffix_nbytes)) {
    lanebloom_table_warn(table,
                         "the index of filters is not in bytewise order, and they are not asked");
    table->is_asked = false;
  }
  if (table->index.n == 0) /* as in RocksDB */
    table->is_asked = false;
  if (!reserve(table, table->index.n) ||
      (table->is_asked && !lanebloom_index_prepare(&table->index, suffix_nbytes)))
    return problem_memory(opening->problem, table->index.n * sizeof *table->filter_blocks);
  for (size_t i = 0; !status && i < table->index.n; i++) {
    const struct handle handle = table->index.handles[i];
    if (handle.nbytes > 0) /* else a filter of no bytes, which holds no key */
      status = lanebloom_block_read(&opening->reader, handle, BLOCK_META, "filter",
                                    &table->filter_blocks[i]);
    if (!status)
      status = open_filter(opening, i);
  }
  return status;
}

static lanebloom_status read_filter_block(struct opening *opening)
{
  lanebloom_table *table = opening->table;
  if (!reserve(table, 1))
    return problem_memory(opening->problem, sizeof *table->filter_blocks);
  struct block *block = table->filter_blocks;
  lanebloom_status status = lanebloom_block_read(&opening->reader, opening->filter_handle,
                                                 BLOCK_META, "filter block", block);
  if (status)
    return status;

  /* The old name: tails of keys were signed when LevelDB wrote it, and are not when goleveldb
   * does. */
  lanebloom_format formats[2] = {opening->filter_format, 0};
  if (!formats[0] && opening->writer == LANEBLOOM_WRITER_UNKNOWN)
    formats[1] = LANEBLOOM_LEVELDB_SIGNED;
  if (!formats[0])
    formats[0] =
        opening->writer == LANEBLOOM_WRITER_LEVELDB ? LANEBLOOM_LEVELDB_SIGNED : LANEBLOOM_LEVELDB;
  table->hash = formats[0];
  for (size_t i = 0; i < 2 && formats[i]; i++) {
    status = lanebloom_filter_block_parse(formats[i], block->bytes, block->nbytes,
                                          &table->of_offsets[i]);
    if (status)
      return problem_set(opening->problem, status, "filter block: %s",
                         lanebloom_status_text(status));
  }
  return LANEBLOOM_OK;
}

lanebloom_status lanebloom_opening_read_filter(struct opening *opening)
{
  lanebloom_table *table = opening->table;
  table->hash = LANEBLOOM_ROCKSDB; /* none yet */
  if (table->kind == LANEBLOOM_TABLE_FILTER_NONE)
    return LANEBLOOM_OK;
  if (table->kind == LANEBLOOM_TABLE_FILTER_OTHER) {
    lanebloom_table_warn(table, "a filter of an unknown policy, which is not asked");
    return LANEBLOOM_OK;
  }
  decide_what_is_asked(opening);
  lanebloom_status status = LANEBLOOM_OK;
  switch (table->kind) {
  case LANEBLOOM_TABLE_FILTER_FULL:
    status = read_full(opening);
    break;
  case LANEBLOOM_TABLE_FILTER_PARTITIONED:
    status = read_partitions(opening);
    break;
  default:
    return read_filter_block(opening);
  }
  if (!status)
    judge_filters(table);
  return status;
}
