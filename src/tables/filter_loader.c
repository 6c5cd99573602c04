/* Loads the filter of a table: finds whether the filter holds keys or prefixes, and reads its
 * bytes.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "loader.h"

/* ---- What the filter holds ---- */

/* Does the text consist of `beginning` and a decimal number of at most 9 digits? If it does, stores
 * the number. */
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

/* Finds the extractor whose name the table stores. Pebble stores the name of its comparer instead,
 * and its default comparer extracts whole keys. Returns false if the extractor is unknown. */
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

/* Finds whether the filter holds keys, prefixes or both, and whether it can be used. */
static void find_contents(const struct loader *loader, lanebloom_table *table)
{
  const struct properties *properties = &loader->properties;
  if (table->engine == LANEBLOOM_ENGINE_LEVELDB && table->kind == LANEBLOOM_TABLE_FILTER_BLOCK) {
    table->has_whole_keys = table->uses_filter = true;
    return;
  }
  if (!loader->metaindex.has_properties) {
    lanebloom_table_warn(table, "the filter is not used: no properties say what it holds");
    return;
  }
  if (table->engine == LANEBLOOM_ENGINE_PEBBLE &&
      (!is_bytewise(table->comparator) || has_unknown_columns(loader, table))) {
    table->has_prefixes = true;
    lanebloom_table_warn(
        table,
        "the filter is not used: it holds what its comparer or key schema extracts from keys");
    return;
  }
  const bool has_extractor = table->prefix_extractor[0];
  table->has_whole_keys = properties->says_whole_keys ? properties->has_whole_keys : !has_extractor;
  table->has_prefixes = properties->has_prefixes && has_extractor;
  table->uses_filter =
      table->has_whole_keys || (table->has_prefixes && find_extractor(table, &table->extractor));
  if (!table->uses_filter)
    lanebloom_table_warn(table,
                         table->has_prefixes
                             ? "the filter is not used: it holds prefixes by an unknown extractor"
                             : "the filter is not used: it holds neither keys nor prefixes");
}

/* ---- The bytes of the filter ---- */

static bool reserve(lanebloom_table *table, size_t nfilters)
{
  table->filter_data = calloc(nfilters ? nfilters : 1, sizeof *table->filter_data);
  table->filters = calloc(nfilters ? nfilters : 1, sizeof(lanebloom_filter *));
  table->nfilters = nfilters;
  return table->filter_data && table->filters;
}

/* Opens filter i. If the filter is of an unknown kind, is too large, or has another hash than the
 * filters before it, table->filters[i] stays NULL. Every key may then be in filter i. */
static lanebloom_status open_filter(const struct loader *loader, lanebloom_table *table, size_t i)
{
  const struct block *data = &table->filter_data[i];
  lanebloom_filter *filter;
  const lanebloom_status status = lanebloom_filter_parse_raw(
      loader->metaindex.filter_format, data->bytes, data->nbytes, NULL, &filter, NULL, 0);
  if (status == LANEBLOOM_ERR_FORMAT || status == LANEBLOOM_ERR_LIMIT)
    return LANEBLOOM_OK;
  if (status)
    return problem_set(loader->problem, status, "filter: %s", lanebloom_status_text(status));
  /* Filters of one table may have different formats with the same hash: in a table of Ribbon
   * filters, RocksDB makes FastLocalBloom filters for partitions with few keys. */
  const lanebloom_format format = lanebloom_format_hash(lanebloom_filter_format(filter));
  if (table->hash == LANEBLOOM_ROCKSDB)
    table->hash = format;
  if (format == LANEBLOOM_ROCKSDB /* the result is the same for every key, so no hash is needed */
      || format == table->hash)
    table->filters[i] = filter;
  else
    lanebloom_filter_free(filter);
  return LANEBLOOM_OK;
}

/* Warns about filters that were not opened. If no filter was opened, the table's filter gets the
 * kind OTHER and is not used. */
static void check_filters(lanebloom_table *table)
{
  size_t nclosed = 0;
  for (size_t i = 0; i < table->nfilters; i++)
    nclosed += !table->filters[i];
  if (table->hash == LANEBLOOM_ROCKSDB) /* no filter needs a hash, so any format will do */
    table->hash = LANEBLOOM_ROCKSDB_LOCAL;
  if (nclosed == 0)
    return;
  lanebloom_table_warn(table, "an unknown filter is not used");
  if (nclosed < table->nfilters)
    return;
  table->kind = LANEBLOOM_TABLE_FILTER_OTHER;
  table->uses_filter = false;
}

static lanebloom_status load_full(struct loader *loader, lanebloom_table *table)
{
  if (!reserve(table, 1))
    return problem_memory(loader->problem, sizeof *table->filter_data);
  const lanebloom_status status = lanebloom_block_read(&loader->reader, loader->metaindex.filter,
                                                       BLOCK_META, "filter", table->filter_data);
  return status ? status : open_filter(loader, table, 0);
}

static lanebloom_status load_partition_index(struct loader *loader, lanebloom_table *table)
{
  const struct entry_form form = {.has_deltas = loader->properties.index_has_deltas};
  const size_t suffix_nbytes = loader->properties.index_has_user_keys ? 0 : SUFFIX_NBYTES;
  struct index *index = &table->index;
  const lanebloom_status status = lanebloom_index_read(&loader->reader, loader->metaindex.filter,
                                                       form, "index of filters", index);
  if (status)
    return status;
  table->asks_all_filters = !lanebloom_index_ascends(index, suffix_nbytes);
  if (index->n == 0) /* RocksDB does not use such a filter either */
    table->uses_filter = false;
  return !table->uses_filter || table->asks_all_filters ||
                 lanebloom_index_prepare(index, suffix_nbytes)
             ? LANEBLOOM_OK
             : problem_memory(loader->problem, index->n * sizeof *index->windows);
}

/* Reads the filters of all partitions. They stay in memory together, so together they may take as
 * much as one decompressed block. */
static lanebloom_status load_partitions(struct loader *loader, lanebloom_table *table)
{
  const uint64_t max_nbytes = loader->reader.max_block_nbytes;
  lanebloom_status status = load_partition_index(loader, table);
  if (status)
    return status;
  if (!reserve(table, table->index.n))
    return problem_memory(loader->problem, table->index.n * sizeof *table->filter_data);
  for (size_t i = 0; !status && i < table->nfilters; i++) {
    const struct handle handle = table->index.handles[i];
    if (handle.nbytes > 0) /* if it is 0, the filter is empty */
      status = lanebloom_block_read(&loader->reader, handle, BLOCK_META, "filter",
                                    &table->filter_data[i]);
    if (!status && table->filter_data[i].nbytes > handle.nbytes)
      loader->reader.max_block_nbytes -= table->filter_data[i].nbytes;
    if (!status)
      status = open_filter(loader, table, i);
  }
  loader->reader.max_block_nbytes = max_nbytes;
  return status;
}

static lanebloom_status load_filter_block(struct loader *loader, lanebloom_table *table)
{
  if (!reserve(table, 1))
    return problem_memory(loader->problem, sizeof *table->filter_data);
  struct block *data = table->filter_data;
  lanebloom_status status = lanebloom_block_read(&loader->reader, loader->metaindex.filter,
                                                 BLOCK_META, "filter block", data);
  if (status)
    return status;

  /* If the metaindex gives no format, the filter's name is filter.leveldb.BuiltinBloomFilter. Two
   * writers use this name for two formats: LevelDB before 1.18 hashed a key's last bytes as signed,
   * and goleveldb hashes them as unsigned. If the writer is unknown, the block is parsed for both
   * formats. */
  lanebloom_format formats[2] = {loader->metaindex.filter_format, 0};
  if (!formats[0] && loader->writer == LANEBLOOM_WRITER_UNKNOWN)
    formats[1] = LANEBLOOM_LEVELDB_SIGNED;
  if (!formats[0])
    formats[0] =
        loader->writer == LANEBLOOM_WRITER_LEVELDB ? LANEBLOOM_LEVELDB_SIGNED : LANEBLOOM_LEVELDB;
  table->hash = formats[0];
  for (size_t i = 0; i < 2 && formats[i]; i++) {
    status = lanebloom_filter_block_parse(formats[i], data->bytes, data->nbytes,
                                          &table->filter_blocks[i], NULL, 0);
    if (status)
      return problem_set(loader->problem, status, "filter block: %s",
                         lanebloom_status_text(status));
  }
  return LANEBLOOM_OK;
}

lanebloom_status lanebloom_loader_load_filter(struct loader *loader, lanebloom_table *table)
{
  table->kind = loader->metaindex.filter_kind;
  table->filter_name = loader->metaindex.filter_name;
  loader->metaindex.filter_name = NULL;
  table->hash = LANEBLOOM_ROCKSDB; /* means: not known yet */
  if (table->kind == LANEBLOOM_TABLE_FILTER_NONE)
    return LANEBLOOM_OK;
  if (table->kind == LANEBLOOM_TABLE_FILTER_OTHER) {
    lanebloom_table_warn(table, "a filter of an unknown policy is not used");
    return LANEBLOOM_OK;
  }
  find_contents(loader, table);
  if (table->kind == LANEBLOOM_TABLE_FILTER_BLOCK)
    return load_filter_block(loader, table);
  const lanebloom_status status = table->kind == LANEBLOOM_TABLE_FILTER_FULL
                                      ? load_full(loader, table)
                                      : load_partitions(loader, table);
  if (!status)
    check_filters(table);
  return status;
}
